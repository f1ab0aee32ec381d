import { describe, expect, it } from 'vitest'
import { shortcutOf } from '../../examples/chat/lib/shortcuts.ts'

const none = { ctrlKey: false, metaKey: false, shiftKey: false, altKey: false }

describe('shortcuts', () => {
  it('take Ctrl and the command key for the same', () => {
    expect(shortcutOf({ ...none, key: 'k', ctrlKey: true }, true)).toBe('search')
    expect(shortcutOf({ ...none, key: 'k', metaKey: true }, true)).toBe('search')
    expect(shortcutOf({ ...none, key: 'O', ctrlKey: true, shiftKey: true }, false)).toBe('new')
    expect(shortcutOf({ ...none, key: 'o', ctrlKey: true }, false)).toBeUndefined()
  })

  it('leave single characters to a field in which the user writes', () => {
    expect(shortcutOf({ ...none, key: '?', shiftKey: true }, false)).toBe('help')
    expect(shortcutOf({ ...none, key: '?', shiftKey: true }, true)).toBeUndefined()
    expect(shortcutOf({ ...none, key: '/' }, true)).toBeUndefined()
  })

  it('stop with Escape everywhere', () => {
    expect(shortcutOf({ ...none, key: 'Escape' }, true)).toBe('stop')
    expect(shortcutOf({ ...none, key: 'Escape', altKey: true }, false)).toBeUndefined()
  })
})
