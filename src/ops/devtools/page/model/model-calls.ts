import type { WireMessageEvent } from '../../../../messages/index.ts'
import { fieldOf, isObject, textOf } from './json.ts'
import { callOf, type ModelCall, modelOf } from './usage.ts'

/** A model call as the tree shows it. */
export interface CallSpan {
  name: string
  calls: ModelCall[]
  message: { readonly seq: number; readonly id: string } | undefined
}

/** A message that is being written. It counts as a model call once it streams, names a model or reports tokens. */
interface OpenMessage<Span> {
  readonly id: string
  readonly begin: () => Span
  pieces: number
  span: Span | undefined
}

/** Finds the model calls in the events of one run. */
export function createModelCalls<Span extends CallSpan>() {
  const open = new Map<string, OpenMessage<Span>>()
  /** The ids of all messages so far, with the calls that wrote them. */
  const known = new Map<string, Span | undefined>()

  function spanOf(message: OpenMessage<Span>): Span {
    message.span ??= message.begin()
    if (message.id !== '') known.set(message.id, message.span)
    return message.span
  }

  function name(message: OpenMessage<Span>, metadata: unknown): void {
    const model = modelOf(metadata)
    if (model !== undefined) nameModel(spanOf(message), model)
  }

  function tell(message: OpenMessage<Span>, usage: unknown, metadata?: unknown): void {
    const call = callOf(usage, metadata)
    if (!call) return
    const span = spanOf(message)
    // Each report replaces the one before.
    span.calls = [{ ...call, model: call.model ?? span.calls[0]?.model }]
  }

  return {
    /**
     * Adds an event of a message. Returns the span of the call if the event ends it.
     *
     * @param key Identifies the message among those that are written at the same time.
     * @param begin Creates the span of the call, which began with the first event.
     */
    push(key: string, data: WireMessageEvent, begin: (id: string) => Span): Span | undefined {
      if (data.event === 'message-start') {
        const id = data.id ?? ''
        if (id !== '') known.set(id, undefined)
        if (data.role !== undefined && data.role !== 'ai') return undefined
        const message = { id, begin: () => begin(id), pieces: 0, span: undefined }
        open.set(key, message)
        name(message, data.metadata)
        return undefined
      }
      const message = open.get(key)
      if (!message) return undefined
      if (data.event === 'usage') tell(message, data.usage)
      if (data.event === 'content-block-delta' && ++message.pieces > 1) spanOf(message)
      if (data.event !== 'message-finish' && data.event !== 'error') return undefined
      open.delete(key)
      if (data.event === 'message-finish') {
        tell(message, data.usage, data.responseMetadata)
        name(message, data.responseMetadata)
      }
      return message.span
    },
    /** Adds the input of a step. The step did not write its messages. */
    addInput(input: unknown): void {
      for (const id of messagesIn(input).map(idOf)) if (id !== '' && !known.has(id)) known.set(id, undefined)
    },
    /** Adds the update of a step. Returns the calls of models that sent no events. */
    addResult(result: unknown, seq: number): readonly ModelCall[] {
      return messagesIn(result).flatMap((message) => {
        const [id, metadata] = [idOf(message), fieldOf(message, 'response_metadata')]
        const isKnown = known.has(id)
        const [span, model] = [known.get(id), modelOf(metadata)]
        if (span && model !== undefined) nameModel(span, model)
        if (span) span.message ??= { seq, id }
        known.set(id, span)
        const call = isKnown ? undefined : callOf(fieldOf(message, 'usage_metadata'), metadata)
        return call ? [call] : []
      })
    },
  }
}

/** Keeps the first name. */
function nameModel(span: CallSpan, model: string): void {
  if (span.name === MODEL) span.name = model
  span.calls = span.calls.map((call) => ({ ...call, model: call.model ?? model }))
}

/** The name of a call until its model is known. */
export const MODEL = 'model'

/** The messages in all lists of a state or an update. */
export const messagesIn = (state: unknown): readonly unknown[] =>
  isObject(state) ? Object.values(state).filter(Array.isArray).flat().filter(isObject) : []

const idOf = (message: unknown): string => textOf(fieldOf(message, 'id')) ?? ''
