import { openReader } from './support/reader.ts'
import { type Bench, least, runAlone, takeTurns, times } from './support/report.ts'
import { ALL, eventsPath, newThread, startRun } from './support/run.ts'
import { type Server, withServers } from './support/server.ts'

/** CPU time of a graph that streams an answer of 2,000 tokens: served to one subscriber, and iterated without a server. */

const WORDS = '2000'
const TARGET = 1.05

const served = (server: Server) => async () => {
  const threadId = newThread()
  const reader = await openReader({
    port: server.port,
    path: eventsPath(threadId),
    body: ALL,
    gapless: true,
    lookFor: '"event":"completed","graph_name":"tokens"',
  })
  const before = await server.cpu()
  await startRun(server, threadId, 'tokens', { messages: [{ type: 'human', content: WORDS }] })
  await reader.found
  const used = (await server.cpu()) - before
  reader.close()
  return used
}

const bare = (server: Server) => async () => {
  const before = await server.cpu()
  await server.call('iterate', { threadId: newThread(), say: WORDS })
  return (await server.cpu()) - before
}

export const graph: Bench = () =>
  withServers(['ours'], async (server) => {
    const cpu = await takeTurns(8, { served: served(server), bare: bare(server) })
    const ratio = least(cpu.served) / least(cpu.bare)
    return [
      {
        bench: 'graph of 2,000 tokens, one subscriber, vs iterating it',
        ours: `${(least(cpu.served) / 1_000).toFixed(0)} ms`,
        peer: `${(least(cpu.bare) / 1_000).toFixed(0)} ms`,
        ratio: times(ratio),
        target: `<= ${times(TARGET)}`,
        met: ratio <= TARGET,
      },
    ]
  })

await runAlone(import.meta.url, graph)
