let warned = false

/**
 * Warns once that a caller was not asked for. Where nobody says it at the start, the first request does, because
 * the adapter that a server is mounted with may identify callers.
 */
export function warnOpen(): void {
  if (warned) return
  saidOpen()
  console.warn(
    'agentwire: no `authenticate` option, and no `principal` of an adapter: anyone can read and change every thread.',
  )
}

/** What a terminal shows of a server has said so. */
export function saidOpen(): void {
  warned = true
}
