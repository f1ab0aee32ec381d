import { createServer } from 'node:http'
import { toNode } from '../../../adapters/node.ts'
import type { WebHandler } from '../../../src/index.ts'
import { serveCalls } from './process.ts'

/** The least that a fetch handler can do for A2A: it parses the request and answers with what it was given, and knows no agent. */

let answer: object = {}
/** The results of a stream, in order. */
let results: readonly object[] = []

async function fetch(request: Request): Promise<Response> {
  const { id, method } = (await request.json()) as { readonly id: number; readonly method: string }
  if (!/stream/i.test(method)) return Response.json({ ...answer, id })
  const rest = frames(id)
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = rest.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

const encoder = new TextEncoder()

function* frames(id: number): Generator<Uint8Array> {
  for (const result of results)
    yield encoder.encode(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
}

const handler: WebHandler = {
  fetch,
  handle: fetch,
  routes: async () => [],
  mountPaths: () => [],
  close: async () => {},
}

await serveCalls(createServer(toNode(handler)), {
  answerWith(given: object) {
    answer = given
  },
  streamWith(given: readonly object[]) {
    results = given
  },
})
