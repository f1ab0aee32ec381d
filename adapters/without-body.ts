/** Cancels a body that the host would drop without releasing its source, for example for HEAD. */
export function withoutBody(response: Response): Response {
  response.body?.cancel().catch(() => {}) // No caller waits for the cancel.
  return new Response(null, response)
}
