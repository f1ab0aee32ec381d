import { type State, sameJson } from '../state.ts'

/** The difference between two states, as JSON. */
export interface Change {
  /** The keys that are new or have another value. */
  readonly set?: State
  readonly unset?: readonly string[]
  /** Where in the list of messages some were replaced, how many, and by which. */
  readonly messages?: { readonly at: number; readonly removed: number; readonly added: readonly unknown[] }
}

/** Undefined where the states are equal. */
export function changeBetween(before: State, after: State): Change | undefined {
  const unset = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  const changed = Object.entries(after).filter(
    ([key, value]) => !Object.hasOwn(before, key) || !sameJson(before[key], value),
  )
  if (unset.length === 0 && changed.length === 0) return undefined
  const messages = Array.isArray(before.messages) && Array.isArray(after.messages)
  const set = changed.filter(([key]) => !(messages && key === 'messages'))
  return {
    ...(unset.length > 0 && { unset }),
    ...(set.length > 0 && { set: Object.fromEntries(set) }),
    ...(set.length < changed.length && {
      messages: spliceBetween(before.messages as unknown[], after.messages as unknown[]),
    }),
  }
}

/** The shortest splice that makes one list of the other. */
function spliceBetween(before: readonly unknown[], after: readonly unknown[]): Change['messages'] {
  const shorter = Math.min(before.length, after.length)
  let at = 0
  while (at < shorter && sameJson(before[at], after[at])) at++
  let rest = 0
  while (rest < shorter - at && sameJson(before.at(-1 - rest), after.at(-1 - rest))) rest++
  return { at, removed: before.length - rest - at, added: after.slice(at, after.length - rest) }
}

export function applyChange(state: State, { set, unset = [], messages }: Change): State {
  const next: Record<string, unknown> = { ...state, ...set }
  for (const key of unset) delete next[key]
  if (messages) {
    const list = state.messages as readonly unknown[]
    next.messages = Object.freeze(list.toSpliced(messages.at, messages.removed, ...messages.added))
  }
  return Object.freeze(next)
}
