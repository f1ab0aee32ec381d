import { openReader } from './support/reader.ts'
import { type Bench, least, runAlone, takeTurns, times } from './support/report.ts'
import { ALL, eventsPath, newThread, startRun } from './support/run.ts'
import { type Server, withServers } from './support/server.ts'

/** Measures the time from the user's message to the first token of the answer, over the wire and within the process. */

/** Each token comes in a turn of the event loop of its own, as from a network. */
const WORDS = '20 apart'
const TARGET = { factor: 1.05, plusMs: 2 }

const served = (server: Server) => async () => {
  const threadId = newThread()
  const reader = await openReader({
    port: server.port,
    path: eventsPath(threadId),
    body: ALL,
    lookFor: 'content-block-delta',
  })
  const began = performance.now()
  await startRun(server, threadId, 'tokens', { messages: [{ type: 'human', content: WORDS }] })
  const took = (await reader.found) - began
  reader.close()
  return took
}

const bare = (server: Server) => () => server.call<number>('iterate', { threadId: newThread(), say: WORDS })

export const firstToken: Bench = () =>
  withServers(['ours'], async (server) => {
    const took = await takeTurns(150, { served: served(server), bare: bare(server) })
    const own = least(took.served)
    const graph = least(took.bare)
    return [
      {
        bench: 'time to the first token, vs the bare graph',
        ours: `${own.toFixed(2)} ms`,
        peer: `${graph.toFixed(2)} ms`,
        ratio: times(own / graph),
        target: `<= ${TARGET.factor}x + ${TARGET.plusMs} ms`,
        met: own <= graph * TARGET.factor + TARGET.plusMs,
      },
    ]
  })

await runAlone(import.meta.url, firstToken)
