/** True if the server rejected the request. Otherwise the run itself has failed. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'ProtocolError' || 'status' in error)

/** For a thread that could not be read, the SDK only keeps the status. */
const UNREAD: Readonly<Record<string, string>> = {
  401: 'Sign in to read this thread.',
  403: 'You may not read this thread.',
  429: 'Too many requests. Wait a moment, then try again.',
}

/** An SDK error as a sentence for the user. */
export function wordsOf(error: unknown): string {
  const message = typeof error === 'string' ? error : error instanceof Error ? error.message : ''
  if (message === '') return 'Something went wrong.'
  // “Protocol request failed: 403 Forbidden — the server's own words.”
  const [, status] = /^Thread state request failed: (\d+)/.exec(message) ?? []
  if (status !== undefined)
    return UNREAD[status] ?? `The thread could not be read: the server answered ${status}.`
  const [, words] = /^Protocol request failed: .*? — (.*)$/s.exec(message) ?? []
  return words ?? message
}
