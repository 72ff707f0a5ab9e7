import type { ReactNode } from 'react';

import './Button.css';

export interface ButtonProps {
  kind?: 'primary' | 'secondary' | 'ghost' | 'danger';
  size?: 'small' | 'medium' | 'large';
  icon?: ReactNode;
  disabled?: boolean;
  children: ReactNode;
  type?: 'button' | 'submit';
  onClick?: () => void;
}

export function Button({
  kind = 'primary',
  size = 'medium',
  type = 'button',
  icon,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button className="button" type={type} data-kind={kind} data-size={size} {...rest}>
      {icon}
      {children}
    </button>
  );
}
