/** An error as a sentence for the user. */
export function wordsOf(error: unknown): string {
  if (typeof error === 'string' && error !== '') return error
  if (error instanceof Error && error.message !== '') return error.message
  return 'Something went wrong.'
}
