import { equal, hold } from '../check.ts'
import { idsOf, sentOf, type WireEvent } from './events.ts'
import type { Reader } from './intake.ts'

/** Checks that a request was accepted. */
export const accepted = (what: string, status: number): void =>
  hold(`the status of ${what}`, status >= 200 && status < 300, '2xx', status)

/** Checks that no event comes twice. */
export function unrepeated(events: readonly WireEvent[]): void {
  const ids = idsOf(events)
  const repeated = ids.filter((id, index) => ids.indexOf(id) !== index)
  equal('the repeated ids', repeated, [])
}

/** Checks that two readers get the same until `runs` runs have ended. */
export async function agree(
  readers: readonly [Reader, Reader],
  runs = 1,
  what: (events: readonly WireEvent[]) => unknown = sentOf,
): Promise<void> {
  const [first, second] = await Promise.all(readers.map((reader) => reader.untilEnd(runs)))
  equal('the events of the second reader', what(second!), what(first!))
}

/** Checks that readers that `open` resumes after an event get exactly the later ones, at three events. */
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

/** Checks that a text is somewhere in a value, or that it is nowhere. */
export const mentions = (what: string, value: unknown, text: string, isThere = true): void =>
  hold(what, JSON.stringify(value).includes(text) === isThere, `${isThere ? '' : 'no '}${text}`, value)
