import { sameJson } from '../../../messages/record.ts'
import type { State } from '../state.ts'

export interface Change {
  readonly set?: State
  readonly unset?: readonly string[]
  /** Lists that grow with every call are stored as differences. */
  readonly messages?: Splice
  readonly artifacts?: Splice
}

interface Splice {
  readonly at: number
  readonly removed: number
  readonly added: readonly unknown[]
}

const LISTS = ['messages', 'artifacts'] as const

/** Undefined if the states are equal. */
export function changeBetween(before: State, after: State): Change | undefined {
  const unset = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  const changed = Object.entries(after).filter(
    ([key, value]) => !Object.hasOwn(before, key) || !sameJson(before[key], value),
  )
  if (unset.length === 0 && changed.length === 0) return undefined
  const lists = LISTS.filter(
    (list) =>
      Array.isArray(before[list]) && changed.some(([key, value]) => key === list && Array.isArray(value)),
  )
  const set = changed.filter(([key]) => !lists.includes(key as never))
  return {
    ...(unset.length > 0 && { unset }),
    ...(set.length > 0 && { set: Object.fromEntries(set) }),
    ...Object.fromEntries(
      lists.map((key) => [key, spliceBetween(before[key] as unknown[], after[key] as unknown[])]),
    ),
  }
}

function spliceBetween(before: readonly unknown[], after: readonly unknown[]): Splice {
  const shorter = Math.min(before.length, after.length)
  let at = 0
  while (at < shorter && sameJson(before[at], after[at])) at++
  let rest = 0
  while (rest < shorter - at && sameJson(before.at(-1 - rest), after.at(-1 - rest))) rest++
  return { at, removed: before.length - rest - at, added: after.slice(at, after.length - rest) }
}

export function applyChange(state: State, { set, unset = [], ...lists }: Change): State {
  const next: Record<string, unknown> = { ...state, ...set }
  for (const key of unset) delete next[key]
  for (const key of LISTS) {
    const splice = lists[key]
    if (!splice) continue
    const list = state[key] as readonly unknown[]
    next[key] = Object.freeze([
      ...list.slice(0, splice.at),
      ...splice.added,
      ...list.slice(splice.at + splice.removed),
    ])
  }
  return Object.freeze(next)
}
