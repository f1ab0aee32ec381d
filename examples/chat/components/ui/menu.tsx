import type { LucideIcon } from 'lucide-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { IconButton } from './icon-button.tsx'

export interface MenuItem {
  readonly icon?: LucideIcon
  readonly label: string
  readonly isDanger?: boolean
  run(): void
}

interface MenuProps {
  readonly icon: LucideIcon
  readonly label: string
  /** Text above the entries. Default: none. */
  readonly heading?: string
  readonly items: readonly MenuItem[]
  readonly size?: 'icon' | 'small'
  readonly className?: string
}

/** Where the list stands in the page: a modal dialog makes inert what is outside of it. */
const LANDMARKS = 'nav, header, main, dialog'

/**
 * A button with a menu. The browser shows it above everything, and closes it on Escape and on a press
 * outside. It also closes what moves in the page, as rows do when their list is sorted again, so the list
 * stands outside of them.
 */
export function Menu({ icon, label, heading, items, size = 'icon', className = '' }: MenuProps) {
  /** What the open list stands in. */
  const [landmark, setLandmark] = useState<Element>()
  const isOpen = landmark !== undefined
  const button = useRef<HTMLButtonElement>(null)
  /** The press on the button has closed the menu: the click that follows must not open it again. */
  const isClosing = useRef(false)

  const show = (list: HTMLDivElement | null): void => {
    if (list === null || list.matches(':popover-open')) return
    list.showPopover()
    place(list, button.current!)
    itemsOf(list)[0]?.focus()
  }
  const close = (list: HTMLElement): void => {
    list.hidePopover()
    button.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    const list = event.currentTarget
    const all = itemsOf(list)
    const at = all.indexOf(document.activeElement as HTMLElement)
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (next !== undefined) all.at(next % all.length)?.focus()
    else if (event.key === 'Escape' || event.key === 'Tab') close(list)
    else return
    event.preventDefault()
  }
  return (
    <>
      <IconButton
        ref={button}
        icon={icon}
        label={label}
        size={size}
        className={`${className} ${isOpen ? 'opacity-100!' : ''}`}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onPointerDown={() => {
          isClosing.current = isOpen
        }}
        onClick={({ currentTarget }) => {
          if (!isClosing.current) setLandmark(currentTarget.closest(LANDMARKS) ?? document.body)
          isClosing.current = false
        }}
      />
      {landmark &&
        createPortal(
          <div
            ref={show}
            popover="auto"
            role="menu"
            tabIndex={-1}
            aria-label={label}
            // Before it is closed: the list of a menu that is rendered again is opened again.
            onBeforeToggle={({ newState }) => newState === 'closed' && setLandmark(undefined)}
            onKeyDown={onKeyDown}
            className="fixed m-0 min-w-48 max-w-[calc(100vw-1rem)] rounded-xl border border-line bg-raised p-1 text-ink text-sm shadow-lg"
          >
            {heading !== undefined && (
              <p aria-hidden className="px-3 pt-1.5 pb-1 text-faint text-xs">
                {heading}
              </p>
            )}
            {items.map(({ icon: Icon, label, isDanger, run }) => (
              <button
                key={label}
                type="button"
                role="menuitem"
                tabIndex={-1}
                onClick={({ currentTarget }) => {
                  close(currentTarget.parentElement!)
                  run()
                }}
                className={`flex h-9 w-full items-center gap-3 rounded-lg px-3 text-left outline-none focus-visible:bg-hover hover:bg-hover pointer-coarse:h-11 ${isDanger ? 'text-bad' : ''}`}
              >
                {Icon && <Icon aria-hidden className="size-4 shrink-0" />}
                {label}
              </button>
            ))}
          </div>,
          landmark,
        )}
    </>
  )
}

const itemsOf = (list: HTMLElement): readonly HTMLElement[] => [
  ...list.querySelectorAll<HTMLElement>('[role="menuitem"]'),
]

const MARGIN = 8

/** Below the button, or above it if there is no room, and never beyond an edge of the page. */
function place(list: HTMLElement, button: HTMLElement): void {
  const from = button.getBoundingClientRect()
  const { width, height } = list.getBoundingClientRect()
  const below = from.bottom + 4
  const top = below + height + MARGIN > innerHeight ? from.top - 4 - height : below
  const left = Math.min(Math.max(MARGIN, from.right - width), innerWidth - width - MARGIN)
  Object.assign(list.style, { top: `${Math.max(MARGIN, top)}px`, left: `${left}px` })
}
