import type { ReactNode } from 'react';
import { createPortal } from 'react-dom';

import { Button } from '../button/Button';
import './Dialog.css';

export interface DialogProps {
  title: string;
  confirm: string;
  tone?: 'plain' | 'danger';
  /** Long content scrolls inside the dialog, never the page. */
  scrolls?: boolean;
  children: ReactNode;
  onConfirm?: () => void;
  onCancel?: () => void;
}

/** Hangs on the body, so that no ancestor can clip it or stack above it. */
export function Dialog({
  title,
  confirm,
  tone = 'plain',
  scrolls = false,
  children,
  onConfirm,
  onCancel,
}: DialogProps) {
  return createPortal(
    <div className="dialog-veil">
      <section className="dialog" role="dialog" aria-modal="true" aria-label={title}>
        <h2>{title}</h2>
        <div className={scrolls ? 'dialog-scroll' : undefined}>{children}</div>
        <footer className="dialog-actions">
          <Button kind="secondary" onClick={onCancel}>
            Cancel
          </Button>
          <Button kind={tone === 'danger' ? 'danger' : 'primary'} onClick={onConfirm}>
            {confirm}
          </Button>
        </footer>
      </section>
    </div>,
    document.body,
  );
}
