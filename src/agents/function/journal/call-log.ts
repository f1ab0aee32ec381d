import { AgentwireError } from '../../../core/errors.ts'
import { sleep } from '../../../core/time.ts'
import { AgentRejection, textOfThrown } from '../../errors.ts'
import type { Channels } from '../checkpoints.ts'
import type { State } from '../state.ts'
import { applyChange, type Change, changeBetween } from './change.ts'

/** The properties of a call that must not change when the function runs again. */
export interface CallIdentity {
  /** The position of the call: see `nextPath`. */
  readonly path: string
  readonly kind: 'message' | 'artifact' | 'model' | 'tool' | 'subagent' | 'step' | 'setState' | 'interrupt'
  readonly name?: string
  /** A hash of the arguments. */
  readonly given?: string
}

/**
 * An entry for completed work of an attempt. An unfinished run stores each entry in a channel of its
 * checkpoints.
 */
export type LogEntry = CompletedCall | OutsideChange

export interface CompletedCall extends CallIdentity {
  readonly change?: Change | undefined
  /** The id of a message or artifact, or the result of a tool or subagent as JSON. */
  readonly result?: unknown
  readonly error?: { readonly name: string; readonly message: string; readonly code?: unknown }
}

/** A change of the state that the function did not make, such as one that comes with an answer. */
export interface OutsideChange {
  readonly kind: 'outside'
  /**
   * The interrupt that was answered with it. Empty if the change becomes visible together with the previous
   * call.
   */
  readonly path: string
  readonly change: Change
}

const newLog = (initial: State, recorded: readonly LogEntry[]) => ({
  recorded,
  places: new Map(recorded.map(({ path }, place) => [path, place])),
  made: new Set<string>(),
  waiting: new Set<{ readonly place: number; readonly resolve: () => void }>(),
  unwritten: new Set<number>(),
  thrownBy: new Map<LogEntry, unknown>(),
  entries: [...recorded],
  /** The state at `position`. */
  state: initial,
  position: 0,
  isLive: false,
  isDelivering: false,
  open: 0,
  dirty: false,
})
type LogState = ReturnType<typeof newLog>

export type CallLog = ReturnType<typeof openCallLog>

/**
 * The log of one namespace. An attempt replays the completed calls of earlier attempts, by position, and adds
 * new ones. During the replay, the function sees the state as it was at that position.
 *
 * @param initial The state before the first entry.
 */
export function openCallLog(initial: State, recorded: readonly LogEntry[] = []) {
  const log = newLog(initial, recorded)
  const { places, entries } = log
  advanceTo(log, 0)
  return {
    /** The call that was completed at this position. Throws if it was a different call. */
    replayed: (call: CallIdentity) => replayed(log, call),
    /** Counts a call that has begun, until its turn. */
    begin: () => void log.open++,
    /** Ends a call without a turn, because it waits for an answer. */
    abandon: () => void log.open--,
    /**
     * Settles at the turn of a replayed call. Calls complete in the order of the log, and each open call gets
     * its own turn of the event loop. The branches of a function then make their next calls in the same order
     * in every attempt.
     */
    turnOf: (path: string) => waitFor(log, places.get(path)!),
    /** The same for the last added call, after it is written. */
    turnOfLast: (written: Promise<void>) => turnOfLast(log, written),
    /** Advances the visible state to the entry at this position. Does nothing if there is none. */
    advance(path: string): void {
      const place = places.get(path)
      if (place !== undefined) advanceTo(log, place + 1)
    },
    /** The state at the replay's position. Undefined once the function sees the current state. */
    seen: (): State | undefined => (log.isLive || log.position === recorded.length ? undefined : log.state),
    /** @param thrown The error of a failed call. */
    add(call: CompletedCall, thrown?: unknown): void {
      entries.push(call)
      log.dirty = true
      if (call.error) log.thrownBy.set(call, thrown)
    },
    revive: (call: CompletedCall) => revive(log, call),
    failuresBehind: (error: unknown) => failuresBehind(log, error),
    missed: () => missed(log),
    /** Whether calls were added since the last call of `channels`. */
    get dirty() {
      return log.dirty
    },
    channels(): Channels {
      log.dirty = false
      return channelsOf(entries)
    },
  }
}

function advanceTo(log: LogState, end: number): void {
  while (log.position < end || isSeenAtOnce(log.recorded[log.position])) {
    const { change } = log.recorded[log.position++]!
    if (change) log.state = applyChange(log.state, change)
  }
}

async function deliver(log: LogState): Promise<void> {
  const { waiting, recorded, unwritten } = log
  const first = () => [...waiting].reduce((one, other) => (other.place < one.place ? other : one))
  log.isDelivering = true
  // By then, the other calls of this turn are waiting.
  await Promise.resolve()
  while (waiting.size > 0) {
    // An earlier replayed call may still be made.
    if (first().place > log.position && first().place < recorded.length) await sleep(0)
    const call = first()
    // A new call that completed earlier is not written yet.
    if ([...unwritten].some((place) => place < call.place)) break
    if (call.place < recorded.length) advanceTo(log, call.place + 1)
    waiting.delete(call)
    call.resolve()
    // The function's code after this call runs before the code after the next one.
    if (log.open-- > 1) await sleep(0)
  }
  log.isDelivering = false
}

function waitFor(log: LogState, place: number): Promise<void> {
  return new Promise((resolve) => {
    log.waiting.add({ place, resolve })
    if (!log.isDelivering) void deliver(log)
  })
}

async function turnOfLast(log: LogState, written: Promise<void>): Promise<void> {
  const place = log.entries.length - 1
  log.unwritten.add(place)
  await written
  log.unwritten.delete(place)
  await waitFor(log, place)
}

const missed = ({ recorded, made, places }: LogState): CompletedCall | undefined =>
  recorded.find(
    (entry): entry is CompletedCall =>
      entry.kind !== 'outside' && !made.has(entry.path) && !isInside(entry.path, places),
  )

function replayed(log: LogState, call: CallIdentity): CompletedCall | undefined {
  const place = log.places.get(call.path)
  const before = place === undefined ? undefined : log.recorded[place]!
  if (!before || before.kind === 'outside') {
    if (call.kind !== 'interrupt') log.isLive = true
    return undefined
  }
  if (before.kind !== call.kind || before.name !== call.name || before.given !== call.given)
    throw nondeterministicReplay(`Call ${call.path} was ${described(before)} and is now ${described(call)}.`)
  log.made.add(call.path)
  return before
}

function revive({ thrownBy }: LogState, call: CompletedCall): Error {
  const { message, ...fields } = call.error!
  const isRejection = fields.name === AgentRejection.brand
  const error = isRejection ? new AgentRejection(message) : Object.assign(new Error(message), fields)
  thrownBy.set(call, error)
  return error
}

/** The positions of the failed calls that caused this error. The next attempt repeats them. */
function failuresBehind({ entries, thrownBy }: LogState, error: unknown): readonly string[] {
  const causes = new Set<unknown>()
  for (let at = error; at instanceof Error && !causes.has(at); at = at.cause as Error) causes.add(at)
  const caused = entries.filter((entry) => thrownBy.has(entry) && causes.has(thrownBy.get(entry)))
  // An error without a recorded cause most likely comes from the last failed calls.
  const last = entries.slice(entries.findLastIndex((entry) => !('error' in entry)) + 1)
  return (caused.length > 0 ? caused : last).map(({ path }) => path)
}

const isSeenAtOnce = (entry: LogEntry | undefined): boolean => entry?.kind === 'outside' && entry.path === ''

/** Whether a call around this position has completed, so that its inner calls are not repeated. */
function isInside(path: string, places: ReadonlyMap<string, number>): boolean {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    if (places.has(path.slice(0, path[end - 1] === '!' ? end - 1 : end))) return true
  return false
}

/** The prefix of the channels for the entries. It is followed by the entry's index in the log. */
const CHANNEL = '__call__'

export const channelsOf = (entries: readonly LogEntry[]): Channels =>
  Object.fromEntries(entries.map((entry, place) => [`${CHANNEL}${place}`, entry]))

/** The prefix of the positions of calls inside a step. */
export const insideStep = (path: string): string => `${path}!`

/** The position of the outermost step around a position, or an empty string. */
const stepAround = (path: string): string => path.slice(0, Math.max(path.indexOf('!/'), 0))

/**
 * @param retried The positions of calls to repeat. Their state changes are kept. So are those of incomplete
 * steps, which run again from the beginning.
 */
export function entriesOf(channels: Channels, retried: ReadonlySet<string> = new Set()): readonly LogEntry[] {
  const entries: LogEntry[] = []
  while (Object.hasOwn(channels, `${CHANNEL}${entries.length}`))
    entries.push(channels[`${CHANNEL}${entries.length}`] as LogEntry)
  const kept = new Set(entries.map(({ path }) => path).filter((path) => !retried.has(path)))
  return entries.flatMap((entry) => {
    const step = stepAround(entry.path)
    if (entry.kind === 'outside' || kept.has(step || entry.path)) return [entry]
    return entry.change ? [{ kind: 'outside', path: '', change: entry.change }] : []
  })
}

/** The log with the change from its end to `state`. See `OutsideChange` for `path`. */
export function withOutsideChange(
  initial: State,
  entries: readonly LogEntry[],
  state: State,
  path = '',
): readonly LogEntry[] {
  const end = entries.reduce((before, { change }) => (change ? applyChange(before, change) : before), initial)
  const change = changeBetween(end, state)
  return change ? [...entries, { kind: 'outside', path, change }] : entries
}

export function errorOf(thrown: unknown): CompletedCall['error'] {
  const { name, code } =
    thrown instanceof Error ? (thrown as Error & { code?: unknown }) : { name: 'Error', code: undefined }
  return { name, message: textOfThrown(thrown), ...(typeof code === 'string' && { code }) }
}

export const nondeterministicReplay = (what: string): AgentwireError =>
  new AgentwireError(
    'nondeterministic_replay',
    `The function ran differently when it was replayed. ${what} Between context calls, the function must be deterministic: move anything that depends on the time, on randomness or on other services into a tool or a step.`,
  )

export const described = ({ kind, name, given }: CallIdentity): string =>
  `${kind}${name === undefined ? '' : ` ${JSON.stringify(name)}`}${given === undefined ? '' : ` (input ${given})`}`
