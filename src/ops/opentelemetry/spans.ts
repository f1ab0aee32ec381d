import {
  type Attributes,
  type Context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { ModelCall } from '../../agents/agent.ts'
import type { RunEvent, ServerEvent } from '../../engine/index.ts'

/** A frozen process may never see the end of a run. Its span must not stay open forever. */
const MAX_OPEN_SPANS = 10_000

/** Why the span of an attempt ends before its run does. */
type AttemptEnd = 'handed_over' | 'fenced' | 'taken_over' | 'forgotten'

interface RunSpans {
  readonly tracer: Tracer
  /** By run id, oldest first. */
  readonly open: Map<string, Span>
  readonly maxOpen: number
}

/** Creates a span for every attempt of a run, and a child span for every model call. */
export function createRunSpans(tracer: Tracer, maxOpen = MAX_OPEN_SPANS): (event: ServerEvent) => void {
  const spans: RunSpans = { tracer, open: new Map(), maxOpen }
  return (event) => {
    switch (event.type) {
      case 'run.started': {
        const wait = { 'agentwire.run.attempt': 1, 'agentwire.run.wait_time': event.waitedMs / 1000 }
        return keep(spans, event, startRun(spans, event, event.at, wait))
      }
      case 'run.taken_over': {
        const attributes = { 'agentwire.run.attempt': event.attempt }
        const earlier = endAttempt(spans, event.runId, event.at, 'taken_over')?.spanContext()
        return keep(spans, event, startRun(spans, event, event.at, attributes, earlier ?? callerOf(event)))
      }
      case 'run.handed_over':
      case 'run.fenced':
        return void endAttempt(
          spans,
          event.runId,
          event.at,
          event.type === 'run.fenced' ? 'fenced' : 'handed_over',
        )
      case 'run.model_called':
        return addModelCall(spans, event)
      case 'run.interrupted':
      case 'run.ended':
        return endRun(spans, event)
    }
  }
}

function startRun(
  spans: RunSpans,
  event: RunEvent,
  startedAt: number,
  attributes: Attributes,
  linked?: SpanContext,
): Span {
  const options = {
    kind: SpanKind.INTERNAL,
    startTime: new Date(startedAt),
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': event.assistantId,
      ...idsOf(event),
      ...attributes,
    },
    links: linked ? [{ context: linked }] : [],
  }
  return spans.tracer.startSpan(`invoke_agent ${event.assistantId}`, options, parentOf(event))
}

function keep(spans: RunSpans, { runId, at }: RunEvent, span: Span): void {
  const { open, maxOpen } = spans
  open.set(runId, span)
  const [oldest] = open.keys()
  if (open.size > maxOpen) endAttempt(spans, oldest!, at, 'forgotten')
}

function endAttempt({ open }: RunSpans, runId: string, at: number, end: AttemptEnd): Span | undefined {
  const span = open.get(runId)
  open.delete(runId)
  span?.setAttribute('agentwire.run.attempt.end', end).end(new Date(at))
  return span
}

function endRun(spans: RunSpans, event: RunEndEvent): void {
  const { runId, at, durationMs, usage, status } = event
  const known = spans.open.get(runId)
  spans.open.delete(runId)
  // A run that was dropped while it was queued has no span.
  if (!known && durationMs === null) return
  // Otherwise the process that executed the run is lost, together with its span.
  const span = known ?? startRun(spans, event, at - durationMs!, {}, callerOf(event))
  span.setAttributes({ ...endingAttributes(event), ...usageOf(usage) })
  if (status === 'error' && event.type === 'run.ended') addError(span, event)
  span.end(new Date(at))
}

function addModelCall(spans: RunSpans, event: RunEventOf<'run.model_called'>): void {
  const { call, runId } = event
  const { startedAt, firstTokenAt, endedAt, model, finishReason, usage, error } = call
  const run = spans.open.get(runId)
  const options = {
    kind: SpanKind.CLIENT,
    startTime: new Date(startedAt),
    attributes: {
      ...modelCallAttributes(call),
      ...idsOf(event),
      ...usageOf(usage),
      ...(finishReason !== undefined && { 'gen_ai.response.finish_reasons': [spell(finishReason)] }),
      ...(firstTokenAt !== null && {
        'gen_ai.response.time_to_first_chunk': secondsBetween(startedAt, firstTokenAt),
      }),
    },
  }
  const name = model === undefined ? 'chat' : `chat ${model}`
  const span = spans.tracer.startSpan(name, options, run ? trace.setSpan(ROOT_CONTEXT, run) : parentOf(event))
  if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error })
  span.end(new Date(endedAt))
}

/** A finish reason as the semantic conventions spell it. */
const spell = (reason: string): string =>
  reason === 'toolCalls' ? 'tool_call' : reason === 'contentFilter' ? 'content_filter' : reason

const callerOf = ({ traceparent }: RunEvent): SpanContext | undefined => parseTraceparent(traceparent)

/**
 * The caller's span, or none. Never the active span: a queued run starts in the async context of the run
 * before it, which may belong to another request.
 */
function parentOf(event: RunEvent): Context {
  const caller = callerOf(event)
  return caller ? trace.setSpanContext(ROOT_CONTEXT, caller) : ROOT_CONTEXT
}

const idsOf = ({ threadId, runId }: RunEvent): Attributes => ({
  'gen_ai.conversation.id': threadId,
  'agentwire.run.id': runId,
})

const usageOf = (usage: RunEndEvent['usage'] | undefined): Attributes =>
  usage
    ? { 'gen_ai.usage.input_tokens': usage.inputTokens, 'gen_ai.usage.output_tokens': usage.outputTokens }
    : {}

function addError(span: Span, event: RunEventOf<'run.ended'>): void {
  const { error, at } = event
  const isError = error instanceof Error
  span.setAttribute('error.type', runErrorTypeOf(event))
  const text = isError ? error.message : typeof error === 'string' ? error : undefined
  span.setStatus({ code: SpanStatusCode.ERROR, ...(text !== undefined && { message: text }) })
  if (isError || typeof error === 'string') span.recordException(error, new Date(at))
}

const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/

/**
 * The caller's span, from a W3C `traceparent` header. Undefined if the header is missing or invalid, as the
 * specification requires. Later versions may append fields to those of version 00.
 */
export function parseTraceparent(header: string | null): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(header ?? '') ?? []
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED
  const caller = { traceId, spanId, traceFlags, isRemote: true }
  return isSpanContextValid(caller) ? caller : undefined
}

type RunEventOf<Type extends RunEvent['type']> = Extract<RunEvent, { readonly type: Type }>
export type RunEndEvent = RunEventOf<'run.ended'> | RunEventOf<'run.interrupted'>

/** Provider names in the semantic conventions that differ from ours. */
const PROVIDERS: Readonly<Record<string, string>> = {
  amazon_bedrock: 'aws.bedrock',
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
}

/** The attributes that a call's span and its metrics share. None is different for each call. */
export function modelCallAttributes({ provider, model, error }: ModelCall): Attributes {
  return {
    'gen_ai.operation.name': 'chat',
    ...(provider !== undefined && { 'gen_ai.provider.name': PROVIDERS[provider] ?? provider }),
    ...(model !== undefined && { 'gen_ai.request.model': model, 'gen_ai.response.model': model }),
    ...(error !== undefined && { 'error.type': errorTypeOf(error) }),
  }
}

/** The error class at the start of the text. Any other word could be an id. */
const errorTypeOf = (error: string): string =>
  /^[A-Z]\w*(?:Error|Exception)(?=:)/.exec(error)?.[0] ?? '_OTHER'

/** The class of the error that ended a run, or why it ended. */
export const runErrorTypeOf = ({ error, reason }: RunEventOf<'run.ended'>): string =>
  error instanceof Error ? error.name : reason === 'failed' ? '_OTHER' : reason

export const secondsBetween = (from: number, to: number): number => Math.max(0, to - from) / 1000

/** How a run ended. The status alone does not distinguish a cancelled run from an interrupted one. */
export const endingAttributes = (event: RunEndEvent): Attributes => ({
  'agentwire.run.status': event.status,
  'agentwire.run.reason': event.type === 'run.interrupted' ? 'interrupted' : event.reason,
})
