import { useId, useState } from 'react';

import './Field.css';

export interface FieldProps {
  label: string;
  hint?: string;
  placeholder?: string;
  defaultValue?: string;
  disabled?: boolean;
  multiline?: boolean;
  /** Returns what is wrong with the text, or nothing; asked when the reader leaves the field. */
  check?: (text: string) => string | undefined;
  /** Said once the text has passed the check. */
  success?: string;
  /** Asks at once, for text that was there before. */
  touched?: boolean;
}

interface Note {
  kind: 'hint' | 'error' | 'success';
  text: string;
}

const noteFor = (error: string | undefined, passed: boolean, props: FieldProps): Note | undefined => {
  if (error) return { kind: 'error', text: error };
  if (passed && props.success) return { kind: 'success', text: props.success };
  return props.hint ? { kind: 'hint', text: props.hint } : undefined;
};

export function Field(props: FieldProps) {
  const { label, placeholder, defaultValue = '', disabled, multiline, check, touched } = props;
  const id = useId();
  const [text, setText] = useState(defaultValue);
  const [left, setLeft] = useState(touched ?? false);
  const error = left ? check?.(text) : undefined;
  const note = noteFor(error, left && check !== undefined, props);
  const Control = multiline ? 'textarea' : 'input';
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      <Control
        id={id}
        className="field-control"
        value={text}
        placeholder={placeholder}
        disabled={disabled}
        aria-invalid={error !== undefined}
        spellCheck={false}
        onChange={(event: { target: { value: string } }) => setText(event.target.value)}
        onBlur={() => setLeft(true)}
      />
      {note && (
        <span className="field-note" data-kind={note.kind} role="status">
          {note.text}
        </span>
      )}
    </div>
  );
}
