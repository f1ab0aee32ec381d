import { customFrame } from './servers/events.ts'
import { type Bench, runAlone, times } from './support/report.ts'
import { newThread, runToEnd } from './support/run.ts'
import { type Server, withServers } from './support/server.ts'

/** Measures the memory (heap and what it holds outside of it) that each retained event takes after a collection. */

const EVENTS = 40_000
const SIZE = 20
const TARGET = 250

async function perEvent(server: Server, assistantId: string): Promise<number> {
  await runToEnd(server, newThread(), assistantId, { events: 2_000, size: SIZE })
  const before = await server.memory()
  await runToEnd(server, newThread(), assistantId, { events: EVENTS, size: SIZE })
  return ((await server.memory()).held - before.held) / EVENTS
}

export const memory: Bench = () =>
  withServers(['ours', 'embed'], async (ours, embed) => {
    const own = await perEvent(ours, 'burst')
    const peer = await perEvent(embed, 'writer')
    return [
      {
        bench: `a retained event of ${customFrame(SIZE, EVENTS).length} bytes, vs embed server`,
        ours: `${own.toFixed(0)} B`,
        peer: `${peer.toFixed(0)} B`,
        ratio: times(own / peer),
        target: `<= ${TARGET} B`,
        met: own <= TARGET,
      },
    ]
  })

await runAlone(import.meta.url, memory)
