import { AuditError } from '../check.ts'
import { at, hasEnded, type WireEvent } from './events.ts'

/** How a connection ended. */
export type Ending = 'ended' | 'broken' | 'timeout'

/** A connection that can wait for events. */
export interface Reader {
  readonly events: readonly WireEvent[]
  /** Returns the events once `done` accepts them. Rejects if the connection ends first or the time is up. */
  until(what: string, done: (events: readonly WireEvent[]) => boolean): Promise<readonly WireEvent[]>
  /** Returns the events once `runs` runs have ended. Default: one. Rejects as `until` does. */
  untilEnd(runs?: number): Promise<readonly WireEvent[]>
  /** How the connection ended, or undefined while it is open. */
  ended(): Ending | undefined
}

/** Receives the messages of a connection. */
export interface Intake extends Reader {
  readonly events: WireEvent[]
  /** Wakes the waiters after a message has arrived. */
  look(): void
  /** Marks the connection as ended. Only the first call has an effect. */
  over(how: Ending): void
  /** Waits until `find` returns a value, and returns it. Rejects as `until` does. */
  wait<Found>(what: string, find: () => Found | undefined): Promise<Found>
}

/** `name` is the connection's name in errors, such as `stream`. */
export function createIntake(name: string): Intake {
  const events: WireEvent[] = []
  const waiting = new Set<() => void>()
  let end: Ending | undefined
  const look = () => {
    for (const wake of [...waiting]) wake()
  }
  const wait: Intake['wait'] = (what, find) =>
    new Promise((resolve, reject) => {
      const wake = () => {
        const found = find()
        if (found !== undefined) resolve(found)
        else if (end)
          reject(new AuditError(what, 'it', `the end of the ${name} (${end}) after ${summary(events)}`))
        else return
        waiting.delete(wake)
      }
      waiting.add(wake)
      wake()
    })
  const until: Intake['until'] = (what, done) => wait(what, () => (done(events) ? [...events] : undefined))
  return {
    events,
    look,
    over(how) {
      end ??= how
      look()
    },
    ended: () => end,
    wait,
    until,
    untilEnd: (runs = 1) =>
      until(runs === 1 ? 'the end of the run' : `the end of ${runs} runs`, hasEnded(runs)),
  }
}

/** A one-word summary of each event, for error messages. */
function summary(events: readonly WireEvent[]): string {
  const words = events.map(({ method, namespace, data }) => {
    const event = at(data, 'event')
    return [method, namespace.join('|'), typeof event === 'string' ? event : ''].filter(Boolean).join(' ')
  })
  return words.length > 40
    ? `${words.slice(0, 40).join(', ')} and ${words.length - 40} more`
    : words.join(', ') || 'nothing'
}
