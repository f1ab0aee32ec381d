/** True for a request that the server did not accept. Else the run itself has failed. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'ProtocolError' || 'status' in error)

/** An error of the SDK as a sentence for the user. */
export function wordsOf(error: unknown): string {
  const message = typeof error === 'string' ? error : error instanceof Error ? error.message : ''
  if (message === '') return 'Something went wrong.'
  // “Protocol request failed: 403 Forbidden — the server's own words.”
  const [, words] = /^Protocol request failed: .*? — (.*)$/s.exec(message) ?? []
  return words ?? message
}
