import { createServer } from 'node:http'
import { toNode } from '../../../adapters/node.ts'
import type { WebHandler } from '../../../src/index.ts'
import { openPeerSaver } from '../support/storage/peer-savers.ts'
import { bareEchoGraph } from './agents.ts'
import { serveCalls } from './process.ts'
import { type runBody, waitRuns } from './rest.ts'
import { roundTrips } from './round-trips.ts'

/** The least that a fetch handler can do for `runs/wait`: it invokes the graph on the thread of its path, and answers with the values. Its saver is LangGraph's own where it has a database. */

const graph = bareEchoGraph(await openPeerSaver(process.env.STORAGE_URL!))

async function fetch(request: Request): Promise<Response> {
  const { input } = (await request.json()) as ReturnType<typeof runBody>
  const threadId = new URL(request.url).pathname.split('/')[2]!
  const { messages } = await graph.invoke(input as never, { configurable: { thread_id: threadId } })
  // As clients of the REST read messages.
  return Response.json({
    messages: messages.map((message) => message.toDict()).map(({ type, data }) => ({ type, ...data })),
  })
}

const handler: WebHandler = {
  fetch,
  handle: fetch,
  routes: async () => [],
  mountPaths: () => [],
  close: async () => {},
}

await serveCalls(createServer(toNode(handler)), { waitRuns: waitRuns(handler), roundTrips })
