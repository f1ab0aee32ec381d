import { createAccumulator } from '../../messages/accumulator.ts'
import { createMessageDecoder, encodeMessage, type WireMessage } from '../../messages/index.ts'
import { isRecord, itemsOf } from '../../messages/record.ts'
import {
  createCallScopes,
  createOpenMessages,
  isEnd,
  type LoggedEvent,
} from '../../messages/thread-events/index.ts'
import type { RunContext } from '../context.ts'
import { logReader, readLogBatches } from '../log/decode.ts'
import type { Matcher } from '../log/frame.ts'
import { loadRun, type ThreadRecord } from '../records/records.ts'

/** A message of the agent itself, as far as it is written. */
interface Streamed {
  readonly id: string | undefined
  readonly isOwn: boolean
  readonly decoder: ReturnType<typeof createMessageDecoder>
  readonly content: ReturnType<typeof createAccumulator>
  /** The sequence number of its end. */
  end: number | undefined
}

/**
 * The messages of the agent that the active run has streamed so far, as a state spells them. They include
 * those that the newest checkpoint has, but not those that a state of the run did not keep.
 */
export async function readStreamed(
  { store }: RunContext,
  { threadId, activeRunId, lostTokens }: ThreadRecord,
): Promise<readonly WireMessage[]> {
  if (activeRunId === null) return []
  const run = (await loadRun(store, threadId, activeRunId))?.record
  if (!run || run.firstSeq === null) return []
  const lost = new Set(lostTokens)
  const wanted: Matcher = ({ method, namespace, runId, token }) =>
    runId === activeRunId &&
    !lost.has(token) &&
    (method === 'messages' || method === 'tools' || (method === 'values' && namespace.length === 0))
  const messages = collect()
  for await (const events of readLogBatches(logReader(store, threadId), wanted, run.firstSeq - 1))
    for (const event of events) messages.push(event)
  return messages.read()
}

/** Collects messages of the agent from the events of a run. */
function collect() {
  const { begin, ownerOf } = createCallScopes()
  const written = new Map<string, Streamed>()
  let state: LoggedEvent<'values'> | undefined
  let attempt = ''
  const open = createOpenMessages(({ namespace, data }: LoggedEvent<'messages'>, id): Streamed => {
    const { role = 'ai' } = data as { readonly role?: string }
    const isOwn = role === 'ai' && ownerOf(namespace) === null
    const decoder = createMessageDecoder()
    const one = { id, isOwn, decoder, content: createAccumulator(), end: undefined }
    if (isOwn && id !== undefined) {
      // A message that is written again replaces the earlier one.
      written.delete(id)
      written.set(id, one)
    }
    return one
  })

  function addMessage(event: LoggedEvent<'messages'>): void {
    const one = open.of(event)
    if (!one?.isOwn) return
    for (const piece of one.decoder.push(event.data)) one.content.push(piece)
    if (!isEnd(event.data)) return
    one.end = event.seq
    if (event.superseded && one.id !== undefined && written.get(one.id) === one) written.delete(one.id)
  }

  function addState(event: LoggedEvent<'values'>): void {
    if (!event.superseded) state = event
    else for (const id of idsIn(event.data)) written.delete(id)
  }

  return {
    push(event: LoggedEvent): void {
      const token = event.eventId.slice(0, event.eventId.indexOf('-'))
      // The next attempt writes again what the lost one has not saved.
      if (token !== attempt) {
        open.clear()
        for (const [id, { end }] of written) if (end === undefined) written.delete(id)
      }
      attempt = token
      if (event.method === 'messages') addMessage(event)
      else if (event.method === 'values') addState(event)
      else if (event.method === 'tools' && event.data.event === 'tool-started')
        begin(event.namespace, event.data.tool_call_id)
    },
    read(): readonly WireMessage[] {
      // Only the newest state is read: a run may have many, and all of them may be long.
      const { data } = state ?? {}
      // An agent without messages in its state keeps what it has streamed.
      const until = isRecord(data) && Array.isArray(data.messages) ? state!.seq : 0
      const kept = new Set(until > 0 ? idsIn(data) : [])
      return [...written].flatMap(([id, { content, end }]) =>
        end !== undefined && end < until && !kept.has(id) ? [] : encodeMessage(content.message()),
      )
    },
  }
}

const idsIn = (values: unknown): readonly string[] =>
  itemsOf(isRecord(values) ? values.messages : undefined).flatMap((message) =>
    isRecord(message) && typeof message.id === 'string' ? [message.id] : [],
  )
