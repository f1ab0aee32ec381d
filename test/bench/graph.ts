import { openReader } from './support/reader.ts'
import { type Bench, least, type Row, runAlone, takeTurns, times } from './support/report.ts'
import { ALL, eventsPath, newThread, startRun } from './support/run.ts'
import { type Server, withServers } from './support/server.ts'

/**
 * Measures the CPU time of a graph that streams an answer of 2,000 tokens: served to one subscriber, iterated without a server,
 * and iterated with each event encoded as a frame, which is the least that any server does.
 */

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

const bare = (server: Server, encode: boolean) => async () => {
  const before = await server.cpu()
  await server.call('iterate', { threadId: newThread(), say: WORDS, encode })
  return (await server.cpu()) - before
}

function row(bench: string, ours: readonly number[], peer: readonly number[], target?: number): Row {
  const ratio = least(ours) / least(peer)
  return {
    bench,
    ours: `${(least(ours) / 1_000).toFixed(0)} ms`,
    peer: `${(least(peer) / 1_000).toFixed(0)} ms`,
    ratio: times(ratio),
    target: target === undefined ? '' : `<= ${times(target)}`,
    ...(target !== undefined && { met: ratio <= target }),
  }
}

export const graph: Bench = () =>
  withServers(['ours'], async (server) => {
    const cpu = await takeTurns(20, {
      served: served(server),
      iterated: bare(server, false),
      encoded: bare(server, true),
    })
    return [
      row('graph of 2,000 tokens, one subscriber, vs iterating it', cpu.served, cpu.iterated, TARGET),
      row('the same, vs iterating it and encoding each event', cpu.served, cpu.encoded),
    ]
  })

await runAlone(import.meta.url, graph)
