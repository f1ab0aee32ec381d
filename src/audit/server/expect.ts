import type * as z from 'zod/mini'
import { equal, hold } from '../check.ts'
import { idsOf, sentOf, type WireEvent } from './events.ts'
import type { Reader } from './stream.ts'

/** Checks that a request was accepted. */
export const accepted = (what: string, status: number): void =>
  hold(`the status of ${what}`, status >= 200 && status < 300, '2xx', status)

/** Checks that no event is repeated. */
export function unrepeated(events: readonly WireEvent[]): void {
  const ids = idsOf(events)
  const repeated = ids.filter((id, index) => ids.indexOf(id) !== index)
  equal('the repeated ids', repeated, [])
}

/** Checks that two subscribers receive the same events until `runs` runs have ended. */
export async function agree(
  readers: readonly [Reader, Reader],
  runs = 1,
  what: (events: readonly WireEvent[]) => unknown = sentOf,
): Promise<void> {
  const [first, second] = await Promise.all(readers.map((reader) => reader.untilEnd(runs)))
  equal('the events of the second reader', what(second!), what(first!))
}

/** Resumes after each of three events with `open`, and checks that exactly the later events arrive. */
export async function resumes(
  events: readonly WireEvent[],
  open: (after: WireEvent) => Promise<Reader & { close(): unknown }>,
): Promise<void> {
  for (const index of new Set([0, events.length >> 1, events.length - 2])) {
    const after = events[index]!
    const later = events.slice(index + 1)
    const what = `the events after ${after.event_id}, number ${after.seq}`
    const reader = await open(after)
    const seen = await reader.until(what, (some) => some.length >= later.length)
    equal(what, sentOf(seen), sentOf(later))
    await reader.close()
  }
}

/** Checks that a text occurs in a value, or that it does not. */
export const mentions = (what: string, value: unknown, text: string, isThere = true): void =>
  hold(what, JSON.stringify(value).includes(text) === isThere, `${isThere ? '' : 'no '}${text}`, value)

/** Loads Zod with the first value that is checked. */
const schemas = () => import('./wire.ts')

export type ShapedMethod = keyof Awaited<ReturnType<typeof schemas>>['data']

function fits(what: string, schema: z.ZodMiniType, value: unknown): void {
  const issue = schema.safeParse(value).error?.issues[0]
  if (!issue) return
  const keys = issue.path.filter((key) => typeof key === 'string').toReversed()
  hold(what, false, [issue.message, ...keys].join(' in '), value)
}

/** Checks the fields that every event needs. */
export const isEnvelope = async (sent: unknown): Promise<void> =>
  fits('an event', (await schemas()).event, sent)

/** Checks the data of an event. */
export const isData = async (method: ShapedMethod, data: unknown): Promise<void> =>
  fits(`the data of a ${method} event`, (await schemas()).data[method], data)

/** Checks a state of a thread. */
export const isState = async (value: unknown): Promise<void> =>
  fits('a state', (await schemas()).state, value)

/** Checks a message of a state. */
export const isFlatMessage = async (value: unknown): Promise<void> =>
  fits('a message of the state', (await schemas()).message, value)
