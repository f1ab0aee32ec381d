import { SSE_FRAMING, type StreamFraming, sourceOf, streamResponse } from '../../core/http/index.ts'
import type { Answer, AnswerEnd } from '../../engine/index.ts'
import type { LogGap, ThreadEvent } from '../../messages/thread-events/index.ts'
import { reporterOf } from '../kit/errors.ts'
import type { AnswerItem } from '../kit/reading/answer-item.ts'
import { createAnswerReader } from '../kit/reading/answer-reader.ts'
import type { FaceCall, FaceContext } from '../kit/routes.ts'
import { type Chunk, DONE, frameOf } from './chunks.ts'
import { lastTurn, replyId, type Turn } from './parts.ts'
import { type ChunkWriter, StreamLost, startMessage, writeEnd, writeItem } from './writer.ts'

export type OpenAnswer = Answer<readonly (ThreadEvent | LogGap)[]>

/** With the headers of `createUIMessageStreamResponse` in `ai`. */
const FRAMING: StreamFraming = {
  ...SSE_FRAMING,
  headers: {
    ...SSE_FRAMING.headers,
    'content-type': 'text/event-stream',
    'x-vercel-ai-ui-message-stream': 'v1',
  },
}

/** An answer, and a converter of its events to chunks. */
export interface Followed {
  readonly answer: OpenAnswer
  readonly follower: Follower
}

export interface Follower {
  /** Chunks that the page receives before the answer is read. */
  readonly first: readonly Chunk[]
  /** The chunks of the log's next events. Throws `StreamLost`. */
  push(events: readonly (ThreadEvent | LogGap)[]): readonly Chunk[]
  end(end: AnswerEnd): readonly Chunk[]
}

/**
 * A response of chunks. Rejects if the answer cannot be opened. A later failure aborts the body, because
 * pages treat a clean end as the end of the answer. `left` fires when the page has disconnected, which stops
 * nothing.
 */
export async function chunkResponse(
  context: FaceContext,
  call: FaceCall,
  open: (left: AbortSignal) => Promise<Followed>,
): Promise<Response> {
  const { signal } = call
  const source = sourceOf((left) => framesOf(open(left)), signal)
  await source.ready()
  const report = reporterOf(context, call)
  return streamResponse(source, FRAMING, {
    signal,
    onError: (error) => error instanceof StreamLost || report(error),
  })
}

async function* framesOf(opening: Promise<Followed>): AsyncGenerator<string> {
  const { answer, follower } = await opening
  yield textOf(follower.first)
  for await (const batch of answer) yield textOf(follower.push(batch))
  yield textOf(follower.end(answer.end!)) + DONE
}

function textOf(chunks: readonly Chunk[]): string {
  let text = ''
  for (const chunk of chunks) text += frameOf(chunk)
  return text
}

/**
 * Follows an answer. `first`: what the page receives before it. `whole`: for a page that has nothing of it. The log
 * up to `head` is then read first, so that the page does not receive what was later retracted. `userId` is the
 * stored user message, for a run that failed before its first state.
 */
export function follow(
  writer: ChunkWriter,
  first: readonly Chunk[],
  whole?: { readonly head: number; readonly userId: string | undefined },
): Follower {
  const reader = createAnswerReader()
  let past: AnswerItem[] | undefined = whole && []
  let turn: Turn | undefined
  const written = (items: readonly AnswerItem[]) => items.flatMap((item) => writeItem(writer, item))

  function begin(items: readonly AnswerItem[]): readonly Chunk[] {
    past = undefined
    const { userId, replies } = turn ?? { userId: whole?.userId, replies: [] }
    return [...startMessage(writer, replyId(userId), replies, false), ...written(items)]
  }

  return {
    first,
    push(events) {
      let seen = 0
      const items: AnswerItem[] = []
      for (const event of events) {
        if (event.type === 'event') seen = event.seq
        if (past) turn ??= turnBefore(event, past)
        for (const item of reader.push(event)) {
          if (item.type !== 'gap' || !past) items.push(item)
          else {
            // The state has what the log has lost.
            turn = lastTurn(item.values.messages)
            past.length = 0
            items.length = 0
          }
        }
      }
      if (!past || !whole) return written(items)
      for (const item of items) past.push(item)
      return seen >= whole.head && turn ? begin(withoutVoid(past)) : []
    },
    end: (end) => [...(past ? begin(withoutVoid(past)) : []), ...writeEnd(writer, end)],
  }
}

/**
 * The turn that an answer continues, from its first state. Items that the answer itself has already sent are
 * not part of it.
 */
function turnBefore(event: ThreadEvent | LogGap, told: readonly AnswerItem[]): Turn | undefined {
  if (event.type === 'gap' || event.method !== 'values' || event.namespace.length > 0 || event.superseded)
    return undefined
  const turn = lastTurn(Object(event.data).messages)
  return told.some(({ type }) => type === 'messageStart') ? { ...turn, replies: [] } : turn
}

/** The items without those that were later retracted. */
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
