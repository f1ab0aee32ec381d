import { formatSse, type StreamSource, sourceOf } from '../../../core/http/index.ts'
import type { Principal } from '../../../core/principal.ts'
import { findRun } from '../../../engine/index.ts'
import type { PlatformContext } from '../context.ts'
import { type Frame, JsonText, jsonOf } from './frame.ts'
import { createFrames } from './make-frames.ts'
import { outcomeOf } from './outcome.ts'

export interface FramesRequest {
  readonly threadId: string
  readonly principal: Principal | null
  readonly runId: string
  /** A subset of the run's modes. Default: all of them, or `values` for a run of the protocol. */
  readonly modes?: readonly string[] | undefined
  /** Default: the value that the run was created with. */
  readonly subgraphs?: boolean | undefined
  /** Return only what comes after this frame; `-1` is before the first one. Default: everything. */
  readonly lastEventId?: string | undefined
  /** On LangGraph's servers, frames have no ids if the run has no thread. Default: false. */
  readonly withoutIds?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/** A frame with its number in the run: 0, 1, 2, … */
export interface NumberedFrame extends Frame {
  readonly id: number
}

/** A frame as sent, with the id from which its reader can resume. */
export interface SentFrame extends Frame {
  readonly id: number | string
}

/**
 * The REST stream of one run, from its start or after an id, until its end. The frames are made from the log,
 * always from the run's first event, so they and their ids are the same on every instance and for every
 * reader.
 *
 * Throws `no_such_run` on the first read.
 */
export const readFrames = (context: PlatformContext, request: FramesRequest): StreamSource =>
  sourceOf(
    (signal) => encodeFrames(numberedFrames(context, { ...request, signal }), request.withoutIds),
    request.signal,
  )

/** Frames as server-sent events. */
export async function* encodeFrames(
  batches: AsyncIterable<readonly SentFrame[]>,
  withoutIds?: boolean | undefined,
): AsyncGenerator<string, void, undefined> {
  for await (const frames of batches) {
    const text = frames.map(({ id, event, namespace, data }) =>
      formatSse({
        id: withoutIds ? undefined : String(id),
        event: [event, ...namespace].join('|'),
        data: jsonOf(data),
      }),
    )
    if (text.length > 0) yield text.join('')
  }
}

/** The frames that a request selects, in batches of all that are available. */
export async function* numberedFrames(
  { engine }: Pick<PlatformContext, 'engine'>,
  request: FramesRequest,
): AsyncGenerator<readonly NumberedFrame[], void, undefined> {
  const { threadId, principal, runId, lastEventId, signal } = request
  const { framesOf, isAsked, firstSeq, isLast } = await framesOfRun(engine, request)
  const after = lastEventId === undefined ? -1 : Number.parseInt(lastEventId, 10)
  let id = -1
  let isWhole = false
  let hasResult = false
  for await (const batch of engine.events({
    threadId,
    principal,
    runId,
    json: true,
    batches: true,
    signal,
  })) {
    const given: NumberedFrame[] = []
    for (const event of batch) {
      if (event.type !== 'event') continue
      // After a gap comes the newest state of the thread, which a later run may have written.
      if (!isLast && event.eventId.startsWith('synth:')) continue
      isWhole ||= event.seq === firstSeq
      for (const frame of await framesOf(event)) {
        id += 1
        hasResult ||= isResult(frame)
        if (id > after && isAsked(frame)) given.push({ ...frame, id })
      }
    }
    yield given
  }
  // The log has lost the first events of the run, and with them its values.
  if (!isWhole && !hasResult) {
    const { isError, body } = await outcomeOf(engine, { threadId, principal, runId, signal })
    const result = isError
      ? { event: 'error', namespace: [], data: JSON.parse(body).__error__ }
      : { event: 'values', mode: 'values', namespace: [], data: new JsonText({ json: body }) }
    const isKnown = isError || body !== 'null'
    if (isKnown && isAsked(result)) yield [{ ...result, id: Math.max(id, after) + 1 }]
  }
}

/** Whether a frame tells how a run ended: the values of the root, or an error. */
const isResult = ({ event, namespace }: Frame): boolean =>
  event === 'error' || (event === 'values' && namespace.length === 0)

/** Makes the frames of a run, and selects those that a request wants. */
export async function framesOfRun(
  engine: PlatformContext['engine'],
  {
    threadId,
    principal,
    runId,
    ...asked
  }: Pick<FramesRequest, 'threadId' | 'principal' | 'runId' | 'modes' | 'subgraphs'>,
) {
  const { thread, run } = (await findRun(engine, { threadId, principal, runId })) ?? {}
  const { classic, assistantId = '' } = run ?? {}
  const modes = asked.modes ?? classic?.modes ?? ['values']
  const { framesOf, token } = createFrames({
    threadId,
    runId,
    // Frame numbers count all modes that the run was created with.
    modes: classic?.modes ?? modes,
    subgraphs: classic?.subgraphs ?? asked.subgraphs ?? false,
    isClassic: classic !== undefined && (engine.agents.get(assistantId)?.supportsStreamModes ?? false),
    wasCancelled: async () =>
      ((await engine.getRun({ threadId, principal, runId }))?.cancel ?? null) !== null,
  })
  const lost = new Set(thread?.lostTokens)

  function isAsked({ mode, event, namespace, isOfMessage }: Frame): boolean {
    if (isOfMessage && lost.has(token())) return false
    if (namespace.length > 0 && asked.subgraphs === false && event !== 'custom') return false
    return mode === undefined || modes.includes(mode)
  }

  return { framesOf, isAsked, firstSeq: run?.firstSeq ?? null, isLast: thread?.lastRunId === runId }
}
