import type { LucideIcon } from 'lucide-react'
import { Button, type ButtonProps } from './button.tsx'

export interface IconButtonProps extends Omit<ButtonProps, 'children' | 'aria-label' | 'size'> {
  readonly icon: LucideIcon
  /** What the button does, for screen readers and as the tooltip. */
  readonly label: string
  readonly size?: 'icon' | 'small'
}

export function IconButton({ icon: Icon, label, kind = 'quiet', size = 'icon', ...rest }: IconButtonProps) {
  return (
    <Button kind={kind} size={size} aria-label={label} title={label} {...rest}>
      <Icon aria-hidden className={size === 'icon' ? 'size-5' : 'size-4'} />
    </Button>
  )
}
