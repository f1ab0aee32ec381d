import { equal, hold } from '../check.ts'
import { idsOf, sentOf, type WireEvent } from './events.ts'
import type { Reader } from './intake.ts'

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
