import type { Deployer } from '../../src/control-plane/deployers/deployer.ts'
import { createControlPlaneHandler } from '../../src/control-plane/index.ts'
import { takeNames } from '../../src/control-plane/records/names.ts'
import type { DeploymentRecord } from '../../src/control-plane/records/records.ts'
import { partitionOf, putDeployment } from '../../src/control-plane/records/stored.ts'
import { openStorage } from '../../src/storage/open.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { BACKENDS } from '../kit/backends.ts'
import { query } from '../kit/postgres-server.ts'
import { type Bench, median, type Row, runAlone, takeTurns, times } from './support/report.ts'

/** Measures what a page of deployments costs by how many their owner has: in this process, without sockets. */

const DEPLOYMENTS_OF = [100, 10_000] as const
const REQUESTS = 10
const ROUNDS = 12
const TARGET = 1.5

/** Queries by what they ask for, with the number of deployments that answer them. The last ones have to look at all that there are. */
const PAGES: Readonly<
  Record<
    string,
    { readonly query: (count: number) => string; readonly finds: number; readonly isLinear?: true }
  >
> = {
  'the first page': { query: () => '', finds: 20 },
  'the last page': { query: (count) => `offset=${count - 20}`, finds: 20 },
  'name=': { query: (count) => `name=${nameOf(count, count >> 1)}`, finds: 1 },
  'status= of most': { query: () => 'status=READY', finds: 20 },
  'status= of one': { query: () => 'status=UNUSED', finds: 1 },
  'the last page of status=': { query: (count) => `status=READY&offset=${count - 21}`, finds: 20 },
  'deployment_type= of one': { query: () => 'deployment_type=dev_free', finds: 1 },
  'name_contains= in most': { query: () => 'name_contains=agent', finds: 20 },
  'name_contains= in one': {
    query: (count) => `name_contains=${nameOf(count, 3)}`,
    finds: 1,
    isLinear: true,
  },
}

const ownerOf = (count: number): string => `owner-of-${count}`
const nameOf = (count: number, i: number): string => `agent-${i}-of-${count}`

/** One that serves, with what deployments of a repository have. */
function recordOf(count: number, i: number): DeploymentRecord {
  return {
    id: crypto.randomUUID(),
    owner: ownerOf(count),
    tenantId: crypto.randomUUID(),
    name: nameOf(count, i),
    displayName: null,
    agent: null,
    source: 'github',
    sourceConfig: {
      repo_url: `https://git.example/team/agent-${i}.git`,
      deployment_type: i === 3 ? 'dev_free' : 'prod',
      build_on_push: true,
    },
    sourceRevisionConfig: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
    secrets: [{ name: 'API_KEY', sealed: 'x'.repeat(100) }],
    secretReferences: [],
    status: i === 3 ? 'UNUSED' : 'READY',
    latestRevisionId: crypto.randomUUID(),
    activeRevisionId: crypto.randomUUID(),
    pending: [],
    revisionCount: 1,
    retiring: [],
    url: `https://agents.example/${i}`,
    imageVersion: null,
    tagValueIds: [],
    tracerSessionId: crypto.randomUUID(),
    createdAt: 1_700_000_000_000 + i,
    updatedAt: 1_700_000_000_000 + i,
  }
}

async function put(store: Store, record: DeploymentRecord): Promise<void> {
  await takeNames(store, record, record.createdAt)
  await store.commit(partitionOf(record.id), { ops: [putDeployment(record, false)] })
}

const deployer: Deployer = {
  refuses: () => undefined,
  deploy: () => Promise.reject(new Error('Nothing is deployed here.')),
  stop: async () => {},
  destroy: async () => {},
}

async function pages(name: string, url: string): Promise<Row[]> {
  const { store, setup, close } = await openStorage(url)
  await setup()
  let owner = ''
  const handler = createControlPlaneHandler({
    deployer,
    store,
    authenticate: () => ({ id: owner }),
    secrets: { key: btoa('k'.repeat(32)) },
    worker: false,
  })
  for (const count of DEPLOYMENTS_OF) {
    for (let made = 0; made < count; made += 100) {
      const some = Array.from({ length: 100 }, (_, i) => recordOf(count, made + i))
      await Promise.all(some.map((record) => put(store, record)))
    }
  }
  // Servers do so once a minute.
  await store.sweep()
  if (name === 'postgres') await query(url, 'VACUUM ANALYZE')
  const rows: Row[] = []
  for (const [page, { query, finds, isLinear }] of Object.entries(PAGES)) {
    const measure = (count: number) => async () => {
      owner = ownerOf(count)
      const target = `http://127.0.0.1/v2/deployments?limit=20&${query(count)}`
      const began = performance.now()
      for (let i = 0; i < REQUESTS; i++) {
        const { resources } = await (await handler.fetch(new Request(target))).json()
        if (resources.length !== finds) throw new Error(`${name}, ${page}: ${resources.length} of ${count}`)
      }
      return (performance.now() - began) / REQUESTS
    }
    const took = await takeTurns(isLinear ? 5 : ROUNDS, {
      few: measure(DEPLOYMENTS_OF[0]),
      many: measure(DEPLOYMENTS_OF[1]),
    })
    const [few, many] = [median(took.few.slice(1)), median(took.many.slice(1))]
    rows.push({
      bench: `${name}: GET /v2/deployments, ${page} of 10,000, vs of 100`,
      ours: `${many.toFixed(2)} ms`,
      peer: `${few.toFixed(2)} ms`,
      ratio: times(many / few),
      target: isLinear ? '' : `<= ${times(TARGET)}`,
      ...(!isLinear && { met: many <= few * TARGET }),
    })
  }
  await handler.close()
  await close()
  return rows
}

export const controlPlanePages: Bench = async () => {
  const rows = await pages('memory', 'memory:')
  for (const backend of BACKENDS) {
    if ((process.env.BENCH_STORAGE ?? backend.name) !== backend.name || !backend.installed()) continue
    const database = await backend.create()
    rows.push(...(await pages(backend.name, database.url)))
    await database.remove()
  }
  return rows
}

await runAlone(import.meta.url, controlPlanePages)
