let warned = false

/**
 * Warns once that a caller was not asked for. It is not known before the first request: the adapter that a
 * server is mounted with may identify callers.
 */
export function warnOpen(): void {
  if (warned) return
  warned = true
  console.warn(
    'agentwire: no `authenticate` option, and no `principal` of an adapter: anyone can read and change every thread.',
  )
}
