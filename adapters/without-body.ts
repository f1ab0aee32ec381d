/** Cancels a body that the host would drop, as for HEAD, without releasing its source. */
export function withoutBody(response: Response): Response {
  response.body?.cancel().catch(() => {}) // No caller waits for the cancel.
  return new Response(null, response)
}
