import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { toNode } from '../../../adapters/node.ts'
import { langgraph } from '../../../src/agents/langgraph.ts'
import { createAgentServer, memoryCheckpointer } from '../../../src/index.ts'
import { bareTokensGraph, burst, tokensGraph, writerGraph } from './agents.ts'
import { serveCalls } from './process.ts'

const server: Server = createServer(
  toNode(
    createAgentServer({
      agents: { burst, writer: langgraph(writerGraph), tokens: langgraph(tokensGraph) },
      authenticate: () => ({ id: 'bench' }),
    }),
  ),
)

const sockets = new Set<Socket>()
server.on('connection', (socket) => {
  sockets.add(socket)
  socket.on('close', () => sockets.delete(socket))
})

const graph = bareTokensGraph(memoryCheckpointer())

/** Iterates the graph without any server. Gives milliseconds to the first token. */
async function iterate({ threadId, say }: { threadId: string; say: string }): Promise<number> {
  const began = performance.now()
  let first = 0
  const run = await graph.streamEvents({ messages: [{ type: 'human', content: say }] } as never, {
    version: 'v3',
    configurable: { thread_id: threadId },
  })
  for await (const event of run as AsyncIterable<{ params: { data: { event?: string } } }>) {
    if (first === 0 && event.params.data.event === 'content-block-delta') first = performance.now() - began
  }
  return first
}

await serveCalls(server, {
  iterate,
  /** The most bytes that wait in this process for one reader. */
  waiting: () => Math.max(0, ...[...sockets].map((socket) => socket.writableLength)),
})
