import { sourceOf, sseResponse } from '../../core/http/index.ts'
import { reporterOf } from '../kit/errors.ts'
import type { AnswerItem } from '../kit/reading/answer-item.ts'
import { createAnswerReader } from '../kit/reading/answer-reader.ts'
import type { FaceCall } from '../kit/routes.ts'
import { eventsOfRun, type StartedRun } from './begin.ts'
import type { OpenAiContext } from './options.ts'

/** Writes the answer of a run in one of the two protocols. */
export interface RunWriter {
  begin(): string
  push(item: AnswerItem): string
  readonly isEnded: boolean
  readonly asks: boolean
}

/** What happens to a run after it was read. */
export interface OnDisconnect {
  /** Cancels the run if the client disconnects before its end. */
  readonly cancels: boolean
  /** Deletes the thread unless it waits for an answer. */
  readonly removes: boolean
  /**
   * The run has ended and the log has lost some of its events, so it is read from the state that it left.
   * Default false.
   */
  readonly isLost?: boolean | undefined
}

export const KEEP: OnDisconnect = { cancels: false, removes: false }

const DONE = 'data: [DONE]\n\n'

/** The frames of a run, past and live, until it ends. */
async function* framesOf(
  context: OpenAiContext,
  begun: StartedRun,
  writer: RunWriter,
  { cancels, removes, isLost = false }: OnDisconnect,
  signal: AbortSignal | undefined,
): AsyncGenerator<string> {
  let hasFailed = false
  try {
    yield writer.begin()
    const reader = createAnswerReader()
    if (!isLost)
      for await (const events of eventsOfRun(context, begun, signal)) {
        let text = ''
        for (const event of events) for (const item of reader.push(event)) text += writer.push(item)
        yield text
      }
    if (!writer.isEnded) for (const item of await endOf(context, begun)) yield writer.push(item)
    yield DONE
  } catch (error) {
    hasFailed = !signal?.aborted
    throw error
  } finally {
    const { threadId, principal, runId } = begun
    const { engine } = context
    if (removes && !writer.asks && !hasFailed) await engine.deleteThread({ threadId, principal })
    else if (cancels && !writer.isEnded && !hasFailed) await engine.cancel({ threadId, principal, runId })
  }
}

/** The ending of a run that has none in the log: it was dropped before it started, or the log has lost it. */
async function endOf({ engine }: OpenAiContext, begun: StartedRun): Promise<readonly AnswerItem[]> {
  const { threadId, principal, runId } = begun
  const [run, thread] = await Promise.all([
    engine.getRun({ threadId, principal, runId }),
    engine.findThread({ threadId, principal }),
  ])
  const at = { seq: 0, timestamp: run?.end?.at ?? Date.now(), runId }
  const states =
    thread && run?.end ? engine.readHistory(thread, {}, { limit: 1, filter: { run_id: runId } }) : []
  const gaps: AnswerItem[] = []
  for await (const { values } of states) gaps.push({ ...at, type: 'gap', values })
  const open = thread?.interrupts.filter((one) => one.runId === runId) ?? []
  const status = run?.status === 'success' ? 'completed' : run?.status === 'error' ? 'failed' : 'interrupted'
  return [
    ...gaps,
    ...open.map(({ id, value }) => ({
      ...at,
      type: 'question' as const,
      id,
      value,
      owner: null,
      approvals: undefined,
    })),
    { ...at, type: 'runEnd', status, error: run?.error ?? undefined },
  ]
}

/** A run as server-sent events. A later failure aborts the stream. */
export async function streamRun(
  context: OpenAiContext,
  call: FaceCall,
  begun: StartedRun,
  writer: RunWriter,
  leaving: OnDisconnect,
): Promise<Response> {
  const { signal } = call
  const source = sourceOf((left) => framesOf(context, begun, writer, leaving, left), signal)
  return sseResponse(source, { signal, onError: reporterOf(context, call) })
}

/** Reads a run to its end. */
export async function readRun(
  context: OpenAiContext,
  call: FaceCall,
  begun: StartedRun,
  writer: RunWriter,
  leaving: OnDisconnect,
): Promise<void> {
  for await (const _ of framesOf(context, begun, writer, leaving, call.signal));
}
