import type { LucideIcon } from 'lucide-react'
import { Button, type ButtonProps } from './button.tsx'

interface IconButtonProps extends Omit<ButtonProps, 'children' | 'aria-label'> {
  readonly icon: LucideIcon
  /** What the button does, for screen readers and as the tooltip. */
  readonly label: string
}

export function IconButton({ icon: Icon, label, kind = 'quiet', className = '', ...rest }: IconButtonProps) {
  return (
    <Button kind={kind} aria-label={label} title={label} className={`w-9 px-0 ${className}`} {...rest}>
      <Icon aria-hidden className="size-4.5" />
    </Button>
  )
}
