import { openReader, type Reader } from './support/reader.ts'
import { type Bench, least, type Row, runAlone, takeTurns, times } from './support/report.ts'
import { ALL, newThread, openReaders, startRun } from './support/run.ts'
import { type Server, withServers } from './support/server.ts'

/** Measures the server's CPU time for each delivered event with 100 subscribers, for a burst of 2,000 events of 190 bytes and for events that come one by one. */

const READERS = 100
const SIZE = 20

async function perDelivery(server: Server, readers: Reader[], expected: number, start: () => Promise<void>) {
  try {
    const before = await server.cpu()
    await start()
    await Promise.all(readers.map((reader) => reader.received(expected)))
    return ((await server.cpu()) - before) / (expected * readers.length)
  } finally {
    for (const reader of readers) reader.close()
  }
}

interface Burst {
  readonly events: number
  /** Whether every event has a turn of the event loop to itself. */
  readonly turns: boolean
}

const ofGraph = (server: Server, burst: Burst) => async () => {
  const threadId = newThread()
  // Only these are sent by both servers alike: the node's events, and the run's `running` and `completed`.
  const filter = { channels: ['custom', 'lifecycle'] }
  const readers = await openReaders(server, threadId, READERS, { filter })
  return perDelivery(server, readers, burst.events + 2, () =>
    startRun(server, threadId, 'writer', { ...burst, size: SIZE }),
  )
}

const ofAgent = (server: Server, burst: Burst, webSocket?: boolean) => async () => {
  const threadId = newThread()
  const readers = await openReaders(server, threadId, READERS, {
    filter: ALL,
    gapless: true,
    ...(webSocket && { webSocket }),
  })
  return perDelivery(server, readers, burst.events + 2, () =>
    startRun(server, threadId, 'burst', { ...burst, size: SIZE }),
  )
}

const ofLoop = (server: Server, burst: Burst) => async () => {
  const readers = await Promise.all(
    Array.from({ length: READERS }, () => openReader({ port: server.port, path: '/', gapless: true })),
  )
  return perDelivery(server, readers, burst.events, () => server.call('start', { ...burst, size: SIZE }))
}

export const burst: Bench = () =>
  withServers(['ours', 'embed', 'bare'], async (ours, embed, bare) => {
    const atOnce = { events: 2_000, turns: false }
    const apart = { events: 400, turns: true }
    // The peer takes seconds for each round and is warm after one. Our rounds are so short that the compiler needs a few.
    await takeTurns(4, { graph: ofGraph(ours, atOnce) })
    const whole = {
      ...(await takeTurns(2, { graph: ofGraph(ours, atOnce), embed: ofGraph(embed, atOnce) })),
      ...(await takeTurns(5, { agent: ofAgent(ours, atOnce), bare: ofLoop(bare, atOnce) })),
    }
    const single = {
      ...(await takeTurns(2, { graph: ofGraph(ours, apart), embed: ofGraph(embed, apart) })),
      ...(await takeTurns(10, { agent: ofAgent(ours, apart), bare: ofLoop(bare, apart) })),
    }
    return [
      row('burst, graph, vs embed server', whole.graph, whole.embed, 1 / 12),
      row('burst, agent, vs bare loop', whole.agent, whole.bare, 1.5),
      row('one event a turn, graph, vs embed server', single.graph, single.embed),
      row('one event a turn, agent, vs bare loop', single.agent, single.bare),
    ]
  })

function row(bench: string, ours: readonly number[], peer: readonly number[], target?: number): Row {
  const ratio = least(ours) / least(peer)
  return {
    bench,
    ours: `${least(ours).toFixed(2)} us`,
    peer: `${least(peer).toFixed(2)} us`,
    ratio: times(ratio),
    target: target === undefined ? '' : `<= ${times(target)}`,
    ...(target !== undefined && { met: ratio <= target }),
  }
}

/** The same burst over web sockets and over server-sent events, in turns. */
export const sockets: Bench = () =>
  withServers(['ours'], async (ours) => {
    const atOnce = { events: 2_000, turns: false }
    const took = await takeTurns(15, { sockets: ofAgent(ours, atOnce, true), streams: ofAgent(ours, atOnce) })
    return [row('burst, agent, over web sockets, vs streams', took.sockets, took.streams, 1)]
  })

await runAlone(import.meta.url, process.argv.includes('sockets') ? sockets : burst)
