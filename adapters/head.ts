/** The answer to HEAD, where the host would drop the body without letting go of its source. */
export function withoutBody(response: Response): Response {
  response.body?.cancel().catch(() => {}) // Nobody waits for it.
  return new Response(null, response)
}
