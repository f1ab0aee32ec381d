import type { LogGap, ThreadEvent } from '../events/index.ts'
import { reporterOf } from '../face/errors.ts'
import type { AnswerItem } from '../face/reading/answer-item.ts'
import { createAnswerReader } from '../face/reading/answer-reader.ts'
import type { FaceCall, FaceContext } from '../face/routes.ts'
import { type StreamFraming, sourceOf, streamResponse } from '../http/index.ts'
import type { Answer } from '../runs/index.ts'
import { type Chunk, DONE, frameOf } from './chunks.ts'
import { lastTurn, replyId, type Turn } from './parts.ts'
import { type ChunkWriter, StreamLost } from './writer.ts'

export type OpenAnswer = Answer<readonly (ThreadEvent | LogGap)[]>

/** The head and the framing of `createUIMessageStreamResponse` of `ai`. `no-transform` keeps proxies from gathering events to compress them. */
const FRAMING: StreamFraming = {
  headers: {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-vercel-ai-ui-message-stream': 'v1',
    'x-accel-buffering': 'no',
  },
  opening: new TextEncoder().encode(': stream-open\n\n'),
  heartbeat: new TextEncoder().encode(': keep-alive\n\n'),
}

/** What is read from the log as chunks. `left` fires when the page has left, which stops nothing. */
type Open = (left: AbortSignal) => AsyncIterable<readonly Chunk[]>

/** A response of chunks. Rejects where they fail before the first ones. A later failure breaks the body off: pages take a clean end for the end of the answer. */
export async function chunkResponse(context: FaceContext, call: FaceCall, open: Open): Promise<Response> {
  const { signal } = call
  async function* frames(left: AbortSignal) {
    for await (const chunks of open(left)) {
      let text = ''
      for (const chunk of chunks) text += frameOf(chunk)
      yield text
    }
    yield DONE
  }
  const source = sourceOf(frames, signal)
  await source.ready()
  const report = reporterOf(context, call)
  return streamResponse(source, FRAMING, {
    signal,
    onError: (error) => error instanceof StreamLost || report(error),
  })
}

/** The chunks of an answer from its run on that has just been started, for a page that has what came before. */
export async function* goOn(
  answer: OpenAnswer,
  writer: ChunkWriter,
  first: readonly Chunk[],
): AsyncGenerator<readonly Chunk[]> {
  const reader = createAnswerReader()
  yield first
  for await (const batch of answer) {
    const chunks: Chunk[] = []
    for (const event of batch) for (const item of reader.push(event)) chunks.push(...writer.push(item))
    yield chunks
  }
  yield writer.end(answer.end!)
}

/**
 * The chunks of a whole answer. What is in the log up to `head` is read first, so that a page is not sent what was taken back
 * since.
 */
export async function* replay(
  answer: OpenAnswer,
  writer: ChunkWriter,
  { head, userId: fallback }: { readonly head: number; readonly userId: string | undefined },
): AsyncGenerator<readonly Chunk[]> {
  const reader = createAnswerReader()
  let past: AnswerItem[] | undefined = []
  let turn: Turn | undefined

  function begin(items: readonly AnswerItem[]): readonly Chunk[] {
    past = undefined
    // A run that has failed at once has no state.
    const { userId, replies } = turn ?? { userId: fallback, replies: [] }
    return [...writer.begin(replyId(userId), replies, false), ...items.flatMap((item) => writer.push(item))]
  }

  for await (const batch of answer) {
    let seen = 0
    const items: AnswerItem[] = []
    for (const event of batch) {
      if (event.type === 'event') seen = event.seq
      turn ??= turnBefore(event, past)
      for (const item of reader.push(event)) {
        if (item.type !== 'gap' || !past) items.push(item)
        else {
          // What the log has lost is in the state.
          turn = lastTurn(item.values.messages)
          past.length = 0
          items.length = 0
        }
      }
    }
    if (!past) {
      yield items.flatMap((item) => writer.push(item))
      continue
    }
    past.push(...items)
    if (seen >= head && turn) yield begin(withoutVoid(past))
  }
  if (past) yield begin(withoutVoid(past))
  yield writer.end(answer.end!)
}

/** The turn that an answer goes on with, from its first state. What it has told itself before that is no part of it. */
function turnBefore(event: ThreadEvent | LogGap, told: readonly AnswerItem[] | undefined): Turn | undefined {
  if (event.type === 'gap' || event.method !== 'values' || event.namespace.length > 0 || event.superseded)
    return undefined
  const turn = lastTurn(Object(event.data).messages)
  return told?.some(({ type }) => type === 'messageStart') ? { ...turn, replies: [] } : turn
}

/** The items without those that were taken back later. */
function withoutVoid(items: readonly AnswerItem[]): readonly AnswerItem[] {
  let kept: AnswerItem[] = []
  for (const item of items) {
    if (item.type !== 'retract') {
      kept.push(item)
      continue
    }
    const messages = new Set(item.messages)
    const calls = new Set(item.calls)
    kept = kept.filter(
      (one) =>
        !('message' in one && one.type !== 'callResult' && messages.has(one.message.id)) &&
        !('call' in one && calls.has(one.call.id)),
    )
  }
  return kept
}
