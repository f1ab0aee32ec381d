import type { Backend, Database } from '../kit/backends.ts'
import { customFrame } from './servers/events.ts'
import type { Ticks } from './servers/ticks.ts'
import { sharedNow, unevenPause } from './support/clock.ts'
import { openReader } from './support/reader.ts'
import {
  type Bench,
  least,
  median,
  percentile,
  type Row,
  runAlone,
  takeTurns,
  times,
} from './support/report.ts'
import { ALL, eventsPath, newThread, openReaders, runToEnd, startRun } from './support/run.ts'
import { type Server, startServer, withServers } from './support/server.ts'
import { withBackends } from './support/storage/backends.ts'
import { type BareClient, openBareClient } from './support/storage/bare-client.ts'

/** Measures two instances over one database: how late events of one reach the other, and what that costs. */

const TOKENS: Ticks = { events: 200, pauseMs: 25 }
const WARM_UP: Ticks = { events: 40, pauseMs: 5 }
const CROWD = 1_000
const CROWD_TICKS: Ticks = { events: 20, pauseMs: 200 }
const LONG = 10_000
const SIZE = 20
/** The first replays warm up both sides. */
const REPLAYS = 12

const ms = (value: number): string => `${value.toFixed(2)} ms`

/** The times from the creation of a run's events to their arrival at the readers of a thread, in milliseconds. */
async function latencies(runner: Server, watched: Server, readers: number, ticks: Ticks): Promise<number[]> {
  const threadId = newThread()
  const arrivals = Array.from({ length: ticks.events }, (): number[] => [])
  const opened = await openReaders(watched, threadId, readers, {
    filter: { channels: ['custom'] },
    onEvent: (index) => arrivals[index]!.push(sharedNow()),
  })
  await startRun(runner, threadId, 'ticks', { ...ticks })
  await Promise.all(opened.map((reader) => reader.received(ticks.events)))
  for (const reader of opened) reader.close()
  const made = await runner.call<number[]>('tickTimes')
  return arrivals.flatMap((each, i) => each.map((at) => at - made[i]!))
}

/** The times from before a commit of the bare client until another process that was notified has read its row. */
async function roundTrips(bare: BareClient, watcher: Server): Promise<number[]> {
  await watcher.call('watch')
  const data = customFrame(SIZE, 1)
  const measured = async ({ events, pauseMs }: Ticks): Promise<number[]> => {
    const known = (await watcher.call<number[]>('arrivals')).length
    const sent: number[] = []
    for (let i = 0; i < events; i++) {
      await unevenPause(pauseMs)
      sent.push(sharedNow())
      await bare.append(data, 1, true)
    }
    for (;;) {
      const arrivals = (await watcher.call<number[]>('arrivals')).slice(known)
      if (arrivals.length === events) return arrivals.map((at, i) => at - sent[i]!)
      await unevenPause(20)
    }
  }
  await measured(WARM_UP)
  return measured(TOKENS)
}

/** The latency of a single instance without a database. */
const inMemory = (): Promise<number> =>
  withServers(['ours'], async (server) => {
    await latencies(server, server, 1, WARM_UP)
    return median(await latencies(server, server, 1, TOKENS))
  })

async function tokens(name: string, a: Server, b: Server, trips: readonly number[]): Promise<Row> {
  await latencies(a, b, 1, WARM_UP)
  const own = median(await latencies(a, b, 1, TOKENS)) - (await inMemory())
  const floor = median(trips)
  return {
    bench: `${name}: latency that a token gets from A to B, p50, vs the database's own`,
    ours: ms(own),
    peer: ms(floor),
    ratio: times(own / floor),
    target: `<= ${times(3)}`,
    met: own <= 3 * floor,
  }
}

async function crowd(name: string, a: Server, b: Server): Promise<Row> {
  const p99 = async (watched: Server) => percentile(await latencies(a, watched, CROWD, CROWD_TICKS), 99)
  const took = await takeTurns(3, { b: () => p99(b), a: () => p99(a) })
  const [own, single] = [least(took.b), least(took.a)]
  return {
    bench: `${name}: 1,000 subscribers on B of a run on A, p99, vs all on A`,
    ours: ms(own),
    peer: ms(single),
    ratio: times(own / single),
    target: `<= ${times(2)}`,
    met: own <= 2 * single,
  }
}

/** Measures the replay of a thread that the process has never read. */
async function replays(name: string, a: Server, b: Server, bare: BareClient, floor: Server): Promise<Row> {
  const threads: string[] = []
  for (let i = 0; i < REPLAYS; i++) {
    threads.push(newThread())
    await runToEnd(a, threads[i]!, 'burst', { events: LONG, size: SIZE })
  }
  await fill(bare)
  const timed = async (server: Server, path: string, events: number): Promise<number> => {
    const began = performance.now()
    const reader = await openReader({ port: server.port, path, body: ALL, gapless: true })
    await reader.received(events)
    reader.close()
    return performance.now() - began
  }
  const took = await takeTurns(REPLAYS, {
    ours: () => timed(b, eventsPath(threads.pop()!), LONG + 2),
    bare: () => timed(floor, '/', LONG),
  })
  const [own, peer] = [least(took.ours), least(took.bare)]
  return {
    bench: `${name}: replay of 10,000 events that the process does not know, vs the bare client`,
    ours: ms(own),
    peer: ms(peer),
    ratio: times(own / peer),
    target: `<= ${times(2)}`,
    met: own <= 2 * peer,
  }
}

/** Writes the same frames in rows of 64 KiB. */
async function fill(bare: BareClient): Promise<void> {
  const frames = Array.from({ length: LONG }, (_, i) => customFrame(SIZE, i + 1))
  const each = Math.floor(65_536 / frames.at(-1)!.length)
  for (let i = 0; i < frames.length; i += each) {
    const some = frames.slice(i, i + each)
    await bare.append(Buffer.concat(some), some.length)
  }
}

async function connections(backend: Backend, database: Database): Promise<Row> {
  const server = await startServer('ours', database.instanceUrl)
  const openThreads = (count: number) =>
    Array.from({ length: count }, async () => {
      const threadId = newThread()
      const [reader] = await openReaders(server, threadId, 1, { filter: ALL, gapless: true })
      return { threadId, reader: reader! }
    })
  const first = await Promise.all(openThreads(1))
  const one = await backend.connections(database, [server])
  const threads = [...first]
  while (threads.length < CROWD)
    threads.push(...(await Promise.all(openThreads(Math.min(50, CROWD - threads.length)))))
  const idle = await backend.connections(database, [server])
  const busy = threads.slice(0, 50)
  await Promise.all(
    busy.map(({ threadId }) => startRun(server, threadId, 'ticks', { events: 40, pauseMs: 25 })),
  )
  const running = await backend.connections(database, [server])
  await Promise.all(busy.map(({ reader }) => reader.received(42)))
  for (const { reader } of threads) reader.close()
  await server.stop()
  const most = Math.max(idle, running)
  return {
    bench: `${backend.name}: connections of a process with 1,000 threads read and 50 run, vs one thread read`,
    ours: `${most}`,
    peer: `${one}`,
    ratio: '',
    target: `<= ${backend.connectionsPerProcess}`,
    met: most <= backend.connectionsPerProcess,
  }
}

const measure = async (backend: Backend, database: Database): Promise<Row[]> => {
  const { name } = backend
  const { url } = database
  const rows = [await connections(backend, database)]
  const bare = await openBareClient(url)
  await bare.setup()
  const servers = await Promise.all([
    startServer('ours', url),
    startServer('ours', url),
    startServer('bare-storage', url),
  ])
  const [a, b, floor] = servers
  try {
    rows.push(await replays(name, a, b, bare, floor))
    rows.push(await tokens(name, a, b, await roundTrips(bare, floor)))
    rows.push(await crowd(name, a, b))
  } finally {
    await Promise.all([bare.close(), ...servers.map((server) => server.stop())])
  }
  return rows
}

export const storageInstances: Bench = async () => (await withBackends(measure)).flat()

await runAlone(import.meta.url, storageInstances)
