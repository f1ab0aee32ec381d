import { memoryStore } from '../../src/storage/memory/store.ts'
import { openStorage } from '../../src/storage/open.ts'
import { appendEvents, createLog } from '../../src/storage/store/log-pages.ts'
import type { LogEvent, Store } from '../../src/storage/store/store.ts'
import type { Backend, Database } from '../kit/backends.ts'
import { customFrame } from './servers/events.ts'
import { openReader } from './support/reader.ts'
import { type Bench, least, type Row, runAlone, takeTurns, times } from './support/report.ts'
import { ALL, eventsPath, newThread, startRun } from './support/run.ts'
import { type Server, withServers } from './support/server.ts'
import { withBackends } from './support/storage/backends.ts'
import { openBareClient } from './support/storage/bare-client.ts'

/** Measures what appends cost beside the same bytes in as many commits by the bare client of the database, one after the other. */

/** With it the frame of an event has about 300 bytes. */
const SIZE = 130
const COMMITS = 200
const ROUNDS = 40

const eventsOf = (count: number): LogEvent[] =>
  Array.from({ length: count }, (_, i) => ({ topic: 'custom', data: customFrame(SIZE, i + 1) }))

/** Appends as a run does, under its lease and only at the expected head of the log. Gives milliseconds. */
async function appendTo(store: Store, events: readonly LogEvent[], commits: number): Promise<number> {
  const partition = crypto.randomUUID()
  const token = Date.now()
  await store.commit(partition, { ops: [{ op: 'claim', owner: 'bench', token, ttlMs: 600_000 }] })
  const began = performance.now()
  for (let i = 0; i < commits; i++) {
    await store.commit(partition, {
      guards: [
        { guard: 'fence', token },
        { guard: 'head', seq: i * events.length },
      ],
      ops: [{ op: 'append', token, events }],
    })
  }
  return performance.now() - began
}

async function appends({ name }: Backend, { url }: Database): Promise<Row[]> {
  const { store, setup, close } = await openStorage(url)
  const bare = await openBareClient(url)
  await Promise.all([setup(), bare.setup()])
  const rows: Row[] = []
  for (const { batch, target } of [
    { batch: 1, target: 0.8 },
    { batch: 20, target: 0.7 },
  ]) {
    const events = eventsOf(batch)
    const data = Buffer.concat(events.map((event) => event.data))
    const took = await takeTurns(ROUNDS, {
      ours: () => appendTo(store, events, COMMITS),
      bare: async () => {
        const began = performance.now()
        for (let i = 0; i < COMMITS; i++) await bare.append(data, batch)
        return performance.now() - began
      },
    })
    const perSecond = (ms: number) => (COMMITS * batch * 1_000) / ms
    const [own, floor] = [perSecond(least(took.ours)), perSecond(least(took.bare))]
    rows.push({
      bench: `${name}: appends of ${batch}, events a second, vs the bare client`,
      ours: own.toFixed(0),
      peer: floor.toFixed(0),
      ratio: times(own / floor),
      target: `>= ${times(target)}`,
      met: own >= floor * target,
    })
  }
  await Promise.all([close(), bare.close()])
  return rows
}

const WORK = { events: 2_000, size: 20, turns: true }

/** CPU time of the server for a run whose every event is a commit, with one subscriber, in microseconds for each event. */
async function perEvent(server: Server): Promise<number> {
  const threadId = newThread()
  const reader = await openReader({ port: server.port, path: eventsPath(threadId), body: ALL, gapless: true })
  const before = await server.cpu()
  await startRun(server, threadId, 'burst', WORK)
  await reader.received(WORK.events + 2)
  reader.close()
  return ((await server.cpu()) - before) / WORK.events
}

/** Measures what stands between the run and the log's own functions when everything is in memory. */
async function memoryInterface(): Promise<Row[]> {
  const [event] = eventsOf(1)
  const commits = 5_000
  const took = await takeTurns(20, {
    store: () => appendTo(memoryStore(), [event!], commits),
    direct: async () => {
      const log = createLog(0, Number.POSITIVE_INFINITY)
      const began = performance.now()
      for (let i = 0; i < commits; i++) appendEvents(log, 1, [event!], Date.now())
      return performance.now() - began
    },
  })
  const lost = ((least(took.store) - least(took.direct)) / commits) * 1_000
  const { run } = await withServers(['ours'], (server) => takeTurns(8, { run: () => perEvent(server) }))
  const own = least(run)
  return [
    {
      bench: `memory: an event of a run, vs the same with direct calls of the log`,
      ours: `${own.toFixed(2)} us`,
      peer: `${(own - lost).toFixed(2)} us`,
      ratio: times(own / (own - lost)),
      target: `<= ${times(1.05)}`,
      met: own <= (own - lost) * 1.05,
    },
  ]
}

export const storage: Bench = async () => [
  ...(await withBackends(appends)).flat(),
  ...(await memoryInterface()),
]

await runAlone(import.meta.url, storage)
