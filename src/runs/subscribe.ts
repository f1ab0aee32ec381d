import { baselineFrames, gapFrame } from './baseline.ts'
import type { RunContext } from './context.ts'
import { createMatcher, type EventFilter, type Matcher } from './filter.ts'
import { parseEventId } from './frame.ts'
import { loadThread, type ThreadRecord } from './records.ts'
import { selectBytes } from './select.ts'

export interface SubscribeRequest {
  readonly threadId: string
  readonly owner: string | null
  readonly filter: EventFilter
  /** Only events with a higher sequence number. */
  readonly since?: number | undefined
  /** Only events after this one, when the log still has it; else everything. Goes before `since`. */
  readonly lastEventId?: string | undefined
}

/**
 * A subscriber: a place in a thread's log. It pulls, nobody pushes, so one that stops reading costs its place and nothing
 * more. The thread may not exist yet; another owner's thread stays silent for ever.
 */
export interface Subscription {
  /**
   * SSE frames of the next events, once there are some. `undefined` after `cancel`. Rejects when the server ends it: the
   * reader must see an error, because a clean end makes clients wait for ever.
   */
  next(): Promise<Uint8Array | undefined>
  cancel(): void
}

interface Start {
  readonly after: number
  /** What to send before the log. */
  readonly prologue: Uint8Array | undefined
  /** Events up to here are history, and `replay` decides about them; `live` decides about the rest. */
  readonly until: number
  readonly replay: Matcher
  readonly live: Matcher
}

export function subscribe(context: RunContext, request: SubscribeRequest): Subscription {
  const { store, tails } = context
  const { threadId } = request
  const tail = tails.open(threadId, (error) => end({ error }))
  const filter = createMatcher(request.filter)
  let start: Start | undefined
  let after = 0
  let ended: { readonly error?: Error } | undefined

  function end(how: { readonly error?: Error }): void {
    if (ended) return
    ended = how
    tail.close()
  }

  async function next(): Promise<Uint8Array | undefined> {
    while (!ended) {
      const seen = tail.rings()
      const bytes = start ? await read(start) : await begin()
      if (ended) break
      if (bytes) return bytes
      if (bytes === undefined) await tail.wait(seen)
    }
    if (ended.error) throw ended.error
    return undefined
  }

  /** Undefined: nothing yet, wait. Null: look again at once. */
  async function begin(): Promise<Uint8Array | undefined | null> {
    start = await locate(context, request, filter)
    if (!start) return undefined
    after = start.after
    return start.prologue ?? null
  }

  async function read({ until, replay, live }: Start): Promise<Uint8Array | undefined | null> {
    const history = after < until
    const batch = await store.read(
      threadId,
      history ? { after, limit: Math.min(until - after, MAX_BATCH) } : { after },
    )
    if (batch.count === 0) return undefined
    const missed = batch.first > after + 1 ? gapFrame(after, batch.first) : undefined
    after = batch.first + batch.count - 1
    const bytes = selectBytes(batch, history ? replay : live)
    return missed ? concat(bytes ? [missed, bytes] : [missed]) : (bytes ?? null)
  }

  return { next, cancel: () => end({}) }
}

/** Where a subscriber begins, or undefined while its thread does not exist. */
async function locate(
  context: RunContext,
  request: SubscribeRequest,
  filter: Matcher,
): Promise<Start | undefined> {
  const { store } = context
  const { threadId, owner } = request
  // The log before the record: a run that starts in between is then newer than the replay, never missing from it.
  const { head, firstRetained } = await store.inspect(threadId)
  const thread = (await loadThread(store, threadId))?.record
  if (!thread) return undefined
  // Somebody else's thread looks like one on which nothing happens.
  if (thread.owner !== owner)
    return { after: head, prologue: undefined, until: head, replay: NOTHING, live: NOTHING }
  const cursor = await cursorOf(context, request, head)
  if (cursor !== undefined && cursor + 1 >= firstRetained) {
    return { after: cursor, prologue: undefined, until: head, replay: filter, live: filter }
  }
  const frames: Uint8Array[] = []
  if (cursor !== undefined) frames.push(gapFrame(cursor, firstRetained))
  if (firstRetained > 1 || head === 0)
    frames.push(...(await baselineFrames(context, thread, filter, firstRetained - 1)))
  const current = currentOnly(thread)
  return {
    after: firstRetained - 1,
    prologue: frames.length > 0 ? concat(frames) : undefined,
    until: head,
    replay: cursor === undefined ? (topic) => filter(topic) && current(topic) : filter,
    live: filter,
  }
}

/** The sequence number a subscriber has already seen, or undefined for one that wants everything. */
async function cursorOf(
  { store }: RunContext,
  { threadId, since, lastEventId }: SubscribeRequest,
  head: number,
): Promise<number | undefined> {
  const seen = lastEventId === undefined ? undefined : parseEventId(lastEventId)
  if (seen && seen.seq >= 1) {
    const batch = await store.read(threadId, { after: seen.seq - 1, limit: 1 })
    const known =
      batch.count > 0 && batch.first === seen.seq && batch.origins[batch.originOf[0]!]!.token === seen.token
    if (known) return seen.seq
  }
  // A cursor beyond the log comes from a log that is no more.
  return since !== undefined && since <= head ? since : undefined
}

/**
 * What still holds of a thread's past. A new client takes an earlier run's `completed` for the end of its own run, and an
 * answered interrupt for an open one: both are left out of a replay without a cursor.
 */
function currentOnly({ lastRunId, interrupts }: ThreadRecord): Matcher {
  const open = new Map(interrupts.map(({ id, runId }) => [id, runId]))
  return ({ method, namespace, runId, detail }) => {
    if (method === 'lifecycle' && namespace.length === 0) return runId === lastRunId
    if (method === 'input.requested' && detail !== undefined)
      return runId === lastRunId || open.get(detail) === runId
    return true
  }
}

const NOTHING: Matcher = () => false
/** Events read at once. The store bounds the bytes. */
const MAX_BATCH = 1_000

function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((size, { length }) => size + length, 0))
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
