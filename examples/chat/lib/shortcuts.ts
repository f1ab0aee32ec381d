export type Shortcut = 'new' | 'search' | 'threads' | 'write' | 'stop' | 'help'

/** The id of the thread search field. */
export const SEARCH_ID = 'search-threads'

export interface ShortcutEntry {
  readonly id: Shortcut
  readonly keys: string
  readonly text: string
}

export const SHORTCUTS: readonly ShortcutEntry[] = [
  { id: 'new', keys: 'Ctrl Shift O', text: 'New chat' },
  { id: 'search', keys: 'Ctrl K', text: 'Search threads' },
  { id: 'threads', keys: 'Ctrl Shift S', text: 'Show or hide threads' },
  { id: 'write', keys: '/', text: 'Write a message' },
  { id: 'stop', keys: 'Escape', text: 'Stop the answer' },
  { id: 'help', keys: '?', text: 'Show these keys' },
]

type Keys = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>

/** The shortcut of a key press. A single character only counts if the user is not typing. */
export function shortcutOf(keys: Keys, isWriting: boolean): Shortcut | undefined {
  const { key, ctrlKey, metaKey, shiftKey, altKey } = keys
  if (altKey) return undefined
  const isPlain = !ctrlKey && !metaKey
  const pressed = [...(isPlain ? [] : ['Ctrl']), ...(shiftKey && !isPlain ? ['Shift'] : []), nameOf(key)]
  if (isPlain && isWriting && key !== 'Escape') return undefined
  return SHORTCUTS.find((one) => one.keys === pressed.join(' '))?.id
}

const nameOf = (key: string): string => (key.length === 1 ? key.toUpperCase() : key)
