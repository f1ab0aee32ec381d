import { AgentwireError } from '../../../core/errors.ts'
import {
  type ContentBlock,
  createAccumulator,
  type Message,
  type MessageError,
  type MessageEvent,
  type Usage,
} from '../../../messages/index.ts'
import { defined } from '../../../messages/record.ts'
import type { Format } from '../../../models/formats/format.ts'
import { textOfError } from '../../../models/tracing/errors.ts'
import { isContent, iterate } from '../../../models/tracing/observe/first-token.ts'
import type { Run } from '../../../models/tracing/run.ts'
import type { ModelCall } from '../../agent.ts'
import { type CompletedCall, errorOf } from '../journal/call-log.ts'
import { callIdOf, isSuspended, nextPath, rejectSuspended, replayedCall, type Scope } from '../scope.ts'
import { frozenCopy } from '../state.ts'
import type { ModelOptions, ModelStream } from '../types.ts'
import { type MessageDraft, openDraft, replayedDraft } from './message.ts'

export async function streamModel(
  scope: Scope,
  given: ModelStream,
  api: Format | { readonly format: Format },
  options: ModelOptions = {},
): Promise<Message> {
  const format = 'format' in api ? api.format : api
  const { attempt, state } = scope
  const path = nextPath(scope)
  const replayed = replayedCall(scope, { path, kind: 'model' })
  state.log.begin()
  if (replayed) return replayModel(scope, replayed, given)
  const reading: Reading = {
    reader: format.readStream(),
    traced: options.run && trace(options.run, format),
    call: observeCall(format),
    detach: detacherOf(scope, path, options.name),
    draft: openDraft(scope, 'model', path, options.id, () => take(reading, reading.reader.end())),
    failure: undefined,
  }
  const { draft } = reading
  let stream: object | undefined
  let chunks: AsyncIterator<unknown> | undefined
  const end = (error?: string): void => {
    reading.traced?.end(error)
    reading.call.end(attempt.onModelCall, error)
  }
  const cancel = () => {
    end('Cancelled.')
    stop(stream, chunks)
  }
  attempt.signal.addEventListener('abort', cancel, { once: true })
  try {
    const opened = await (typeof given === 'function' ? given() : given)
    stream = opened
    chunks = iterate(opened)
    if (attempt.signal.aborted) cancel()
    await read(scope, reading, chunks)
    if (reading.failure) throw new AgentwireError('model_failed', reading.failure.message)
    const message = draft.end()
    end()
    // A function that continues with other work must not repeat the call if its process is lost.
    setTimeout(() => state.flush())
    await state.log.turnOfLast(attempt.queue.ready())
    return message
  } catch (error) {
    stop(stream, chunks)
    const reason = reading.failure?.message ?? textOfError(error)
    draft.fail(reason)
    end(reason)
    if (isSuspended(error)) state.log.abandon()
    else {
      state.complete({ path, kind: 'model', error: errorOf(error) }, () => {}, error)
      await state.log.turnOfLast(attempt.queue.ready())
    }
    throw error
  } finally {
    attempt.signal.removeEventListener('abort', cancel)
  }
}

/** A response that is being read, and what receives its events. */
interface Reading {
  readonly reader: ReturnType<Format['readStream']>
  readonly traced: ReturnType<typeof trace> | undefined
  readonly call: ReturnType<typeof observeCall>
  readonly detach: (event: MessageEvent) => MessageEvent
  readonly draft: MessageDraft
  failure: MessageError | undefined
}

function take(reading: Reading, events: readonly MessageEvent[], chunk?: unknown): void {
  for (const event of events) {
    if (event.type === 'error') reading.failure ??= event
    const detached = reading.detach(event)
    reading.traced?.push(detached, chunk)
    reading.call.push(detached, chunk)
    reading.draft.push(detached)
  }
}

async function read(scope: Scope, reading: Reading, chunks: AsyncIterator<unknown>): Promise<void> {
  for (;;) {
    const { done, value } = await chunks.next()
    if (scope.suspended) await rejectSuspended(scope)
    if (done || reading.draft.ended) return
    take(reading, reading.reader.push(value), value)
    await scope.attempt.queue.ready()
  }
}

/** The message of a call that an earlier attempt completed. Its stream, if there is one, is stopped. */
async function replayModel(scope: Scope, call: CompletedCall, given: ModelStream): Promise<Message> {
  const { log } = scope.state
  if (typeof given !== 'function')
    Promise.resolve(given).then(
      (stream) => stop(stream, iterate(stream)),
      () => {},
    ) // Its error does not matter.
  if (call.error) {
    await log.turnOf(call.path)
    throw log.revive(call)
  }
  const draft = replayedDraft(scope, call)
  const message = draft.end()
  await log.turnOf(call.path)
  return message
}

/** Reports the call to a traced run, with all its choices. */
function trace(run: Run, format: Format) {
  const accumulator = createAccumulator()
  return {
    push(event: MessageEvent, chunk: unknown): void {
      if (isContent(event, chunk)) run.addEvent('new_token')
      accumulator.push(event)
    },
    end: (error?: string) => void run.finish({ messages: accumulator.messages(), format, error }),
  }
}

/** The engine's observations of a call: its time, model and token usage. */
function observeCall(format: Format) {
  const startedAt = Date.now()
  let firstTokenAt: number | null = null
  let model: string | undefined
  let finishReason: string | undefined
  let usage: Usage | undefined
  let isOver = false
  return {
    push(event: MessageEvent, chunk: unknown): void {
      if (firstTokenAt === null && isContent(event, chunk)) firstTokenAt = Date.now()
      if ('usage' in event) usage = event.usage ?? usage
      if ('reason' in event) finishReason ??= event.reason
      if ('metadata' in event && typeof event.metadata?.model === 'string') model = event.metadata.model
    },
    end(onModelCall: ((call: ModelCall) => void) | undefined, error: string | undefined): void {
      if (isOver) return
      isOver = true
      onModelCall?.({
        startedAt,
        firstTokenAt,
        endedAt: Date.now(),
        provider: format.provider,
        model,
        finishReason,
        usage: usage && { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens },
        error,
      })
    },
  }
}

/**
 * Detaches events from the provider's chunks, so that changes to one do not affect the other. Names the
 * message, and gives every tool call an id.
 */
function detacherOf(
  scope: Scope,
  path: string,
  name: string | undefined,
): (event: MessageEvent) => MessageEvent {
  const ids = new Map<number, string>()

  function detachBlock(block: ContentBlock, index: number): ContentBlock {
    const kept = frozenCopy(block) as ContentBlock
    if (kept.type !== 'toolCall' && (kept.type !== 'invalidToolCall' || kept.extras?.server)) return kept
    const id = kept.id ?? ids.get(index) ?? callIdOf(scope, `${path}/call${index}`)
    ids.set(index, id)
    return { ...kept, id }
  }

  return (event) => {
    if (event.choice) return event
    switch (event.type) {
      case 'messageStart': {
        const { id, metadata, ...start } = event
        const about = frozenCopy({ ...defined({ id }), ...metadata }) as Record<string, unknown>
        return { ...start, metadata: about, ...defined({ name }) }
      }
      case 'blockStart':
      case 'blockFinish':
        return event.block ? { ...event, block: detachBlock(event.block, event.index) } : event
      case 'blockDelta': {
        const { delta } = event
        return delta.type === 'fields' ? { ...event, delta: frozenCopy(delta) as typeof delta } : event
      }
      case 'messageFinish':
        return event.metadata
          ? { ...event, metadata: frozenCopy(event.metadata) as typeof event.metadata }
          : event
      default:
        return event
    }
  }
}

/** Stops a stream, even while it waits. SDKs end the request when the controller of its stream is aborted. */
function stop(stream: object | undefined, chunks: AsyncIterator<unknown> | undefined): void {
  const { controller } = (stream ?? {}) as { readonly controller?: unknown }
  if (controller instanceof AbortController) controller.abort()
  chunks?.return?.().catch(() => {}) // The source may fail while it closes, and that error does not matter.
}
