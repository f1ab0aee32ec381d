import { stringOf, toText } from './fields.ts'

/** The calls so far, where they need not have ids: those that have none are counted. */
export interface Calls {
  /** Before the numbers, so that ids of different responses differ. */
  readonly prefix: string
  count: number
  readonly waiting: Call[]
  readonly answered: Call[]
}

interface Call {
  readonly id: string
  readonly name: unknown
}

export const createCalls = (prefix: string): Calls => ({ prefix, count: 0, waiting: [], answered: [] })

/** The id of the next call. */
export function nameCall(calls: Calls, id: unknown, name: unknown): string {
  const known = stringOf(id) || `${calls.prefix}-${calls.count}`
  calls.count += 1
  calls.waiting.push({ id: known, name })
  return known
}

/** The id of the call that a result answers. It need not say: the first one of its name that waits, or else the last one. */
export function answerCall({ waiting, answered }: Calls, id: unknown, name: unknown): string {
  const at = waiting.findIndex((call) => (id ? call.id === id : call.name === name))
  if (at >= 0) answered.push(...waiting.splice(at, 1))
  if (id) return toText(id)
  return answered.findLast((call) => call.name === name)?.id ?? toText(name)
}
