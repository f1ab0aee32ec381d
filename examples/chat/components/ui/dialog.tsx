import * as Radix from '@radix-ui/react-dialog'
import { X } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { IconButton } from './icon-button.tsx'

interface DialogProps {
  readonly open: boolean
  readonly onOpenChange: (open: boolean) => void
  readonly title: string
  readonly children: ReactNode
  /** `center` is a dialog, `left` a drawer, `right` a panel next to the conversation. */
  readonly side?: 'center' | 'left' | 'right'
}

const SIDES = {
  center:
    'left-1/2 top-1/2 max-h-[85dvh] w-[min(36rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 rounded-2xl',
  left: 'inset-y-0 left-0 w-[min(20rem,85vw)]',
  right: 'inset-y-0 right-0 w-[min(40rem,100vw)]',
}

/** A dialog that traps the focus, closes on Escape and restores the focus. */
export function Dialog({ open, onOpenChange, title, children, side = 'center' }: DialogProps) {
  // Radix restores the focus to its own trigger, which our dialogs do not have.
  const opener = useRef<HTMLElement>(null)
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Radix.Content
          aria-describedby={undefined}
          onEscapeKeyDown={(event) => {
            // The key only closes the menu that is open in the dialog.
            if (document.querySelector('[role="menu"]')) event.preventDefault()
          }}
          onOpenAutoFocus={() => {
            opener.current = document.activeElement as HTMLElement | null
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            if (document.activeElement === document.body) opener.current?.focus()
          }}
          className={`fixed z-50 flex flex-col overflow-hidden border border-line bg-page shadow-xl ${SIDES[side]}`}
        >
          <header className="flex items-center justify-between gap-2 border-b border-line py-2 pr-2 pl-4">
            <Radix.Title className="truncate font-semibold">{title}</Radix.Title>
            <Radix.Close asChild>
              <IconButton icon={X} label="Close" />
            </Radix.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
