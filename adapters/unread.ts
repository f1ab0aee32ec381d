/** A response whose body nobody will read, as for HEAD, where the host would drop it without letting go of its source. */
export function withoutBody(response: Response): Response {
  response.body?.cancel().catch(() => {}) // Nobody waits for it.
  return new Response(null, response)
}
