/** Headers that operations read, for the document. */
export const IDEMPOTENCY_KEY = {
  'Idempotency-Key':
    'The same request with the same key is done once, and answered with what it has made. 1 to 255 visible characters.',
} as const
export const IF_MATCH = {
  'If-Match': 'Does nothing, and answers 412, unless this is the ETag of what is changed.',
} as const
export const PREFER_WAIT = {
  Prefer: '`wait=N`: answers within N seconds, at most 60.',
  'If-None-Match': 'With `Prefer`: waits until there is another ETag.',
} as const
export const LAST_EVENT_ID = { 'Last-Event-ID': 'The `id` of an event: goes on behind it.' } as const
