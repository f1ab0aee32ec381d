import { AgentwireError } from '../../../errors.ts'
import { sleep } from '../../../time.ts'
import { AgentRejection, textOfThrown } from '../../errors.ts'
import type { Channels } from '../checkpoints.ts'
import type { State } from '../state.ts'
import { applyChange, type Change, changeBetween } from './change.ts'

/** What must be the same when the function runs again. */
export interface CallIdentity {
  /** The position of the call: see `nextPath`. */
  readonly path: string
  readonly kind: 'message' | 'artifact' | 'model' | 'tool' | 'subagent' | 'step' | 'setState' | 'interrupt'
  readonly name?: string
  /** A hash of what the call was made with. */
  readonly given?: string
}

/** What an attempt has completed. An unfinished run keeps each entry in a channel of its checkpoints. */
export type LogEntry = CompletedCall | OutsideChange

export interface CompletedCall extends CallIdentity {
  readonly change?: Change | undefined
  /** The id of a message or an artifact, or the result of a tool or a subagent as JSON. */
  readonly result?: unknown
  readonly error?: { readonly name: string; readonly message: string; readonly code?: unknown }
}

/** A change of the state that the function has not made, such as one that comes with an answer. */
export interface OutsideChange {
  readonly kind: 'outside'
  /** The interrupt that was answered with it. Empty where the change is seen with the call before it. */
  readonly path: string
  readonly change: Change
}

export type CallLog = ReturnType<typeof openCallLog>

/**
 * The log of one namespace. An attempt replays what earlier ones completed, by position, and adds to it.
 * During the replay, the function sees the state that it saw at that position.
 *
 * @param initial The state before the first entry.
 */
export function openCallLog(initial: State, recorded: readonly LogEntry[] = []) {
  const places = new Map(recorded.map(({ path }, place) => [path, place]))
  const made = new Set<string>()
  const waiting = new Set<{ readonly place: number; readonly resolve: () => void }>()
  const unwritten = new Set<number>()
  const thrownBy = new Map<LogEntry, unknown>()
  const entries = [...recorded]
  let state = initial
  let position = 0
  let isLive = false
  let isDelivering = false
  let open = 0
  let dirty = false
  advanceTo(0)

  function advanceTo(end: number): void {
    while (position < end || isSeenAtOnce(recorded[position])) {
      const { change } = recorded[position++]!
      if (change) state = applyChange(state, change)
    }
  }

  async function deliver(): Promise<void> {
    isDelivering = true
    // The other calls of this turn are waiting by then.
    await Promise.resolve()
    while (waiting.size > 0) {
      // A replayed call that comes before may be made yet.
      if (first().place > position && first().place < recorded.length) await sleep(0)
      const call = first()
      // A new call that completed before it is not written yet.
      if ([...unwritten].some((place) => place < call.place)) break
      if (call.place < recorded.length) advanceTo(call.place + 1)
      waiting.delete(call)
      call.resolve()
      // What its branch of the function does next comes before what another one does.
      if (open-- > 1) await sleep(0)
    }
    isDelivering = false
  }

  const first = () => [...waiting].reduce((one, other) => (other.place < one.place ? other : one))

  function waitFor(place: number): Promise<void> {
    return new Promise((resolve) => {
      waiting.add({ place, resolve })
      if (!isDelivering) void deliver()
    })
  }

  return {
    /** The call that was completed at this position. Throws where it was another one. */
    replayed(call: CallIdentity): CompletedCall | undefined {
      const place = places.get(call.path)
      const before = place === undefined ? undefined : recorded[place]!
      if (!before || before.kind === 'outside') {
        if (call.kind !== 'interrupt') isLive = true
        return undefined
      }
      if (before.kind !== call.kind || before.name !== call.name || before.given !== call.given)
        throw nondeterministicReplay(
          `Call ${call.path} was ${described(before)} and is now ${described(call)}.`,
        )
      made.add(call.path)
      return before
    },
    /** Counts a call that has begun. It ends with its turn. */
    begin: () => void open++,
    /** The call ends without a turn, because it waits for an answer. */
    abandon: () => void open--,
    /**
     * Settles at the turn of a replayed call. Calls complete in the order of the log, and each open one gets
     * its own turn of the event loop: the branches of a function then make their next calls in the same order
     * in every attempt.
     */
    turnOf: (path: string) => waitFor(places.get(path)!),
    /** The same for the call that was added last. Its turn comes when it is written, too. */
    async turnOfLast(written: Promise<void>): Promise<void> {
      const place = entries.length - 1
      unwritten.add(place)
      await written
      unwritten.delete(place)
      await waitFor(place)
    },
    /** Shows the state as it was when the entry at this position was added. Without one it does nothing. */
    advance(path: string): void {
      const place = places.get(path)
      if (place !== undefined) advanceTo(place + 1)
    },
    /** The state at the position of the replay. Undefined once the function sees the current state. */
    seen: (): State | undefined => (isLive || position === recorded.length ? undefined : state),
    /** @param thrown What the call has thrown, where it has failed. */
    add(call: CompletedCall, thrown?: unknown): void {
      entries.push(call)
      dirty = true
      if (call.error) thrownBy.set(call, thrown)
    },
    revive(call: CompletedCall): Error {
      const { message, ...fields } = call.error!
      const isRejection = fields.name === AgentRejection.brand
      const error = isRejection ? new AgentRejection(message) : Object.assign(new Error(message), fields)
      thrownBy.set(call, error)
      return error
    },
    /** The positions of the failed calls that this error comes from, which the next attempt makes again. */
    failuresBehind(error: unknown): readonly string[] {
      const causes = new Set<unknown>()
      for (let at = error; at instanceof Error && !causes.has(at); at = at.cause as Error) causes.add(at)
      const caused = entries.filter((entry) => thrownBy.has(entry) && causes.has(thrownBy.get(entry)))
      // An error that was thrown in place of another one most likely comes from what failed last.
      const last = entries.slice(entries.findLastIndex((entry) => !('error' in entry)) + 1)
      return (caused.length > 0 ? caused : last).map(({ path }) => path)
    },
    missed: () =>
      recorded.find(
        (entry): entry is CompletedCall =>
          entry.kind !== 'outside' && !made.has(entry.path) && !isInside(entry.path, places),
      ),
    /** Whether calls were added since `channels` was called. */
    get dirty() {
      return dirty
    },
    channels(): Channels {
      dirty = false
      return channelsOf(entries)
    },
  }
}

const isSeenAtOnce = (entry: LogEntry | undefined): boolean => entry?.kind === 'outside' && entry.path === ''

/** Whether a call around this position has completed, so that what is inside of it is not run again. */
function isInside(path: string, places: ReadonlyMap<string, number>): boolean {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    if (places.has(path.slice(0, path[end - 1] === '!' ? end - 1 : end))) return true
  return false
}

/** The channels with the entries, each with its place in the log behind this prefix. */
const CHANNEL = '__call__'

export const channelsOf = (entries: readonly LogEntry[]): Channels =>
  Object.fromEntries(entries.map((entry, place) => [`${CHANNEL}${place}`, entry]))

/** What the positions of the calls in a step begin with. */
export const insideStep = (path: string): string => `${path}!`

/** The outermost step around a position, or ''. */
const stepAround = (path: string): string => path.slice(0, Math.max(path.indexOf('!/'), 0))

/**
 * @param retried The positions of calls that are made again. What they changed stays, as does what incomplete
 * steps changed: such a step runs again as a whole.
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

/** The log, with the change that leads from its end to `state`. See `OutsideChange` for `path`. */
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
