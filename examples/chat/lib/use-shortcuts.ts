import { useEffect, useRef } from 'react'
import { isCovered, isOtherField } from './page.ts'
import { type Shortcut, shortcutOf } from './shortcuts.ts'

/** Runs the actions of the page's keyboard shortcuts. */
export function useShortcuts(actions: Readonly<Record<Shortcut, () => void>>): void {
  const current = useRef(actions)
  current.current = actions
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const { target } = event
      const isWriting =
        target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')
      const shortcut = shortcutOf(event, isWriting)
      if (shortcut === undefined || isCovered() || (shortcut === 'stop' && isOtherField(target))) return
      event.preventDefault()
      current.current[shortcut]()
    }
    // Before the dialog, which the key closes.
    addEventListener('keydown', onKeyDown, true)
    return () => removeEventListener('keydown', onKeyDown, true)
  }, [])
}
