import { createAssistant } from '../../src/engine/assistants/index.ts'
import { putAnswer } from '../../src/engine/records/records.ts'
import { createAgentServer, defineAgent } from '../../src/index.ts'
import { openStorage } from '../../src/storage/open.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { BACKENDS } from '../kit/backends.ts'
import { query } from '../kit/postgres-server.ts'
import { type Bench, median, type Row, runAlone, takeTurns, times } from './support/report.ts'

/** Measures what a page of threads, tasks or assistants costs by how many its owner has: in this process, without sockets. */

const THREADS = [100, 1_000, 20_000] as const
const REQUESTS = 20
const ROUNDS = 12
const TARGET = 1.5
const PAGES = {
  'GET /threads': () => new Request('http://127.0.0.1/threads?limit=20'),
  'POST /threads/search': () =>
    new Request('http://127.0.0.1/threads/search', {
      method: 'POST',
      body: JSON.stringify({ limit: 20, status: 'idle', select: ['thread_id', 'status', 'updated_at'] }),
    }),
  // One in ten threads is of this team, whatever the number.
  'POST /threads/search by metadata': () =>
    new Request('http://127.0.0.1/threads/search', {
      method: 'POST',
      body: JSON.stringify({ limit: 5, metadata: { team: 'red' }, select: ['thread_id', 'updated_at'] }),
    }),
  'POST /assistants/search': () => searchAssistants({}),
  'POST /assistants/search by graph': () => searchAssistants({ graph_id: 'agent', sort_by: 'name' }),
  ListTasks: () => listTasks({ status: 'TASK_STATE_COMPLETED' }),
  // The 50 that have changed last.
  'ListTasks since': (count: number) =>
    listTasks({ statusTimestampAfter: new Date(count - 49).toISOString() }),
} as const

function searchAssistants(query: object): Request {
  return new Request('http://127.0.0.1/assistants/search', {
    method: 'POST',
    body: JSON.stringify({ limit: 20, ...query }),
  })
}

function listTasks(filter: object): Request {
  const call = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: { pageSize: 20, ...filter } }
  return new Request('http://127.0.0.1/a2a/agent', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify(call),
  })
}

/** A finished task in a thread. */
async function putAnswerOf(store: Store, owner: string, threadId: string, updatedAt: number): Promise<void> {
  const runId = `run of ${threadId}`
  const task = putAnswer({
    taskId: runId,
    threadId,
    owner,
    updatedAt,
    assistantId: 'agent',
    state: 'completed',
    runIds: [runId],
    openRunIds: [],
    firstSeq: 1,
    error: null,
    createdAt: 1,
    details: { contextId: threadId },
  })
  await store.commit(threadId, { ops: [task] })
}

async function pages(name: string, url: string): Promise<Row[]> {
  const { store, checkpointer, setup, close } = await openStorage(url)
  await setup()
  let owner = ''
  const server = createAgentServer({
    agents: { agent: defineAgent({ run: () => Promise.resolve() }) },
    authenticate: () => ({ id: owner }),
    store,
    checkpointer,
    sweepMs: 3_600_000,
  })
  const ownerOf = (count: number) => `owner of ${count}`
  for (const count of THREADS) {
    const principal = { id: ownerOf(count) }
    for (let made = 0; made < count; made += 100) {
      const some = Array.from({ length: 100 }, (_, i) => `${count}-${made + i}`)
      await Promise.all(
        some.map((threadId, i) => {
          const metadata = { team: i % 10 === 0 ? 'red' : `team ${made + i}` }
          return server.engine.createThread({ threadId, principal, metadata })
        }),
      )
      await Promise.all(some.map((id, i) => putAnswerOf(store, ownerOf(count), id, made + i + 1)))
      const assistants = some.map((name) => ({ graphId: 'agent', name }))
      await Promise.all(assistants.map((one) => createAssistant(server.engine, principal, one)))
    }
  }
  // Servers do so once a minute.
  await store.sweep()
  if (name === 'postgres') await query(url, 'VACUUM ANALYZE')
  const rows: Row[] = []
  for (const [route, requestOf] of Object.entries(PAGES)) {
    const measure = (count: number) => async () => {
      owner = ownerOf(count)
      const request = requestOf(count)
      const began = performance.now()
      for (let i = 0; i < REQUESTS; i++) await (await server.fetch(request.clone())).text()
      return (performance.now() - began) / REQUESTS
    }
    const took = await takeTurns(ROUNDS, {
      few: measure(THREADS[0]),
      some: measure(THREADS[1]),
      many: measure(THREADS[2]),
    })
    const [few, some, many] = [median(took.few), median(took.some), median(took.many)]
    rows.push({
      bench: `${name}: ${route}, a page of 20 of 20,000, vs of 100 (of 1,000: ${some.toFixed(2)} ms)`,
      ours: `${many.toFixed(2)} ms`,
      peer: `${few.toFixed(2)} ms`,
      ratio: times(many / few),
      target: `<= ${times(TARGET)}`,
      met: many <= few * TARGET,
    })
  }
  await server.close()
  await close()
  return rows
}

export const lists: Bench = async () => {
  const rows = await pages('memory', 'memory:')
  for (const backend of BACKENDS) {
    if ((process.env.BENCH_STORAGE ?? backend.name) !== backend.name || !backend.installed()) continue
    const database = await backend.create()
    rows.push(...(await pages(backend.name, database.url)))
    await database.remove()
  }
  return rows
}

await runAlone(import.meta.url, lists)
