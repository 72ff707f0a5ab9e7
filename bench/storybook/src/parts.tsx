import type { InputHTMLAttributes, ReactNode } from 'react';

export type Tone = 'plain' | 'good' | 'warn' | 'bad';

export interface ButtonProps {
  children: ReactNode;
  kind?: 'main' | 'quiet' | 'risky';
  size?: 'small' | 'usual' | 'large';
  disabled?: boolean;
  onClick?: () => void;
}

export const Button = ({ children, kind = 'main', size = 'usual', ...rest }: ButtonProps) => (
  <button type="button" className="button" data-kind={kind} data-size={size} {...rest}>
    {children}
  </button>
);

export interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  label: string;
  note?: string;
  wrong?: string;
}

export function Field({ label, note, wrong, ...input }: FieldProps) {
  const id = `field-${label.toLowerCase().replaceAll(' ', '-')}`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input id={id} aria-invalid={wrong !== undefined} {...input} />
      {(wrong ?? note) && (
        <span className="note" data-tone={wrong ? 'bad' : 'plain'}>
          {wrong ?? note}
        </span>
      )}
    </div>
  );
}

export const Badge = ({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) => (
  <span className="badge" data-tone={tone}>
    {children}
  </span>
);

export interface CardProps {
  title: string;
  text: string;
  photograph?: number;
  flow?: 'below' | 'beside';
  children?: ReactNode;
}

export const Card = ({ title, text, photograph, flow = 'below', children }: CardProps) => (
  <article className="card" data-flow={flow}>
    {photograph !== undefined && <img src={`photographs/${photograph}.png`} alt="" />}
    <div>
      <h3>{title}</h3>
      <p className="soft">{text}</p>
      {children}
    </div>
  </article>
);

export const Panel = ({ title, children }: { title?: string; children: ReactNode }) => (
  <section className="panel">
    {title && <h3>{title}</h3>}
    {children}
  </section>
);
