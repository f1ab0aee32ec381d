import { context, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import { checkOptions } from '../../../core/options.ts'
import type { TracedRun } from '../traced-run.ts'
import type { Sink } from './delivery.ts'
import { type Attributes, genAiAttributes, operationOf } from './genai-write.ts'

export { type GenAiCall, readGenAiAttributes } from './genai-read.ts'
export { type Attributes, type AttributeValue, genAiAttributes } from './genai-write.ts'

/**
 * Creates a span for every run, with the attributes of `genAiAttributes` and a span event for each event of
 * the run (`new_token` is the first token). Spans nest like the runs. The root is a child of the active span.
 *
 * @param tracer The tracer of your OpenTelemetry setup, which decides where spans are sent.
 */
export function openTelemetrySink(options: { readonly tracer: Tracer }): Sink {
  checkOptions('openTelemetrySink', options, { tracer: ['required', 'object'] })
  const { tracer } = options
  /** The spans of active runs, by run id. */
  const open = new Map<string, Span>()
  return {
    create(run) {
      const parent = run.parent_run_id === undefined ? undefined : open.get(run.parent_run_id)
      const active = context.active()
      const attributes = genAiAttributes(run)
      const options = {
        kind: run.run_type === 'llm' ? SpanKind.CLIENT : SpanKind.INTERNAL,
        startTime: new Date(run.start_time),
        attributes,
      }
      const within = parent ? trace.setSpan(active, parent) : active
      open.set(run.id, tracer.startSpan(nameOf(run, attributes), options, within))
    },
    update(run) {
      const span = open.get(run.id)
      if (!span) return
      const attributes = genAiAttributes(run)
      span.updateName(nameOf(run, attributes))
      span.setAttributes(attributes)
      for (const { name, time, kwargs } of run.events)
        span.addEvent(name, kwargs && { kwargs: JSON.stringify(kwargs) }, new Date(time))
      if (run.error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: run.error })
      if (run.end_time === undefined) return
      span.end(new Date(run.end_time))
      open.delete(run.id)
    },
  }
}

/** The operation and the requested model, which stays the same if the response names a version of it. */
function nameOf(run: TracedRun, { 'gen_ai.request.model': model }: Attributes): string {
  return run.run_type === 'llm' && model !== undefined ? `${operationOf(run)} ${model}` : run.name
}
