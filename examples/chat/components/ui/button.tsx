import type { ComponentProps } from 'react'

const KINDS = {
  primary: 'bg-accent text-on-accent hover:opacity-90',
  plain: 'border border-line bg-raised hover:bg-hover',
  quiet: 'hover:bg-hover',
  danger: 'border border-bad text-bad hover:bg-hover',
}

export interface ButtonProps extends ComponentProps<'button'> {
  readonly kind?: keyof typeof KINDS
}

export function Button({ kind = 'plain', className = '', type = 'button', ...rest }: ButtonProps) {
  return (
    <button
      type={type}
      className={`inline-flex h-9 items-center justify-center gap-2 rounded-lg px-3 text-sm font-medium transition-colors disabled:cursor-not-allowed disabled:opacity-50 ${KINDS[kind]} ${className}`}
      {...rest}
    />
  )
}
