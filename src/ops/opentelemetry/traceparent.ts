import { isSpanContextValid, type SpanContext, TraceFlags } from '@opentelemetry/api'

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
