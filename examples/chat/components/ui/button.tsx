import type { ComponentProps } from 'react'

const KINDS = {
  primary: 'bg-brand text-on-brand hover:opacity-90',
  plain: 'border border-line bg-raised hover:bg-hover',
  quiet: 'hover:bg-hover',
  danger: 'border border-bad text-bad hover:bg-hover',
}

/** A touch target is 44 px, for a mouse less. */
const SIZES = {
  text: 'h-9 shrink-0 px-3 pointer-coarse:h-11',
  lines: 'min-h-9 px-3 py-1.5 pointer-coarse:min-h-11',
  icon: 'size-9 shrink-0 pointer-coarse:size-11',
  small: 'size-8 shrink-0 pointer-coarse:size-11',
}

interface Look {
  readonly kind?: keyof typeof KINDS
  /** `lines` is for text that may be long; `icon` and `small` are squares for an icon only. */
  readonly size?: keyof typeof SIZES
}

/** The look of a button, also for links. */
export const buttonLook = ({ kind = 'plain', size = 'text' }: Look): string =>
  `inline-flex items-center justify-center gap-2 rounded-lg text-sm font-medium transition-colors disabled:cursor-not-allowed disabled:opacity-50 ${SIZES[size]} ${KINDS[kind]}`

export interface ButtonProps extends ComponentProps<'button'>, Look {}

export function Button({ kind, size, className = '', type = 'button', ...rest }: ButtonProps) {
  return <button type={type} className={`${buttonLook({ kind, size })} ${className}`} {...rest} />
}
