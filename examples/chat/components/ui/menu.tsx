import type { LucideIcon } from 'lucide-react'
import { DropdownMenu as Radix } from 'radix-ui'
import type { ReactNode } from 'react'

/** A menu that opens from its trigger, which must be a button. */
export function Menu({ trigger, children }: { readonly trigger: ReactNode; readonly children: ReactNode }) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align="start"
          sideOffset={4}
          className="z-50 min-w-44 rounded-xl border border-line bg-raised p-1 shadow-lg"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

interface MenuItemProps {
  readonly icon?: LucideIcon
  readonly onSelect: () => void
  readonly danger?: boolean
  readonly children: ReactNode
}

export function MenuItem({ icon: Icon, onSelect, danger = false, children }: MenuItemProps) {
  return (
    <Radix.Item
      onSelect={onSelect}
      className={`flex cursor-pointer items-center gap-2 rounded-lg px-3 py-2 text-sm outline-none data-highlighted:bg-hover ${danger ? 'text-bad' : ''}`}
    >
      {Icon && <Icon aria-hidden className="size-4" />}
      {children}
    </Radix.Item>
  )
}
