import type { Backend, Database } from '../kit/backends.ts'
import { runBody } from './servers/rest.ts'
import { type Bench, least, percentile, type Row, runAlone, takeTurns, times } from './support/report.ts'
import { newThread, post } from './support/run.ts'
import { type Server, startServer } from './support/server.ts'
import { withBackends } from './support/storage/backends.ts'
import { hasSqlitePeer } from './support/storage/peer-savers.ts'

/**
 * Measures `runs/wait` of a graph of one node on new threads over each database, against the same graph with LangGraph's own saver over
 * the same database, invoked by a bare fetch handler.
 */

const SAY = 'The quick brown fox jumps over the lazy dog.'
const RUNS = 100
const ROUNDS = 8
const CLIENTS = 20

const THROUGHPUT = 0.7
const COST = 1.5
const MOST_QUERIES = 10

/** What runs have cost. */
interface Cost {
  /** Of the clock, for each of them, in milliseconds. */
  readonly took: number[]
  /** Of the clock, by all clients for one run, in milliseconds. */
  readonly between: number[]
  /** CPU time of the server for one run, in milliseconds. */
  readonly cpu: number[]
  /** What the server sent to the database for one run. */
  readonly trips: number[]
}

const nothing = (): Cost => ({ took: [], between: [], cpu: [], trips: [] })

async function waitOnce({ port }: Server): Promise<void> {
  const body = JSON.stringify(runBody('echoGraph', SAY))
  const answer = await post(port, `/threads/${newThread()}/runs/wait`, body)
  if (!answer.includes('"type":"ai"')) throw new Error(answer)
}

/** Sends runs over sockets from so many clients at once, and notes what they cost. */
const sendRuns = (server: Server, clients: number, cost: Cost) => async (): Promise<number> => {
  const [cpu, trips] = [await server.cpu(), await server.call<number>('roundTrips')]
  const began = performance.now()
  let left = RUNS
  const client = async () => {
    while (left-- > 0) {
      const sent = performance.now()
      await waitOnce(server)
      cost.took.push(performance.now() - sent)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  const between = (performance.now() - began) / RUNS
  cost.between.push(between)
  cost.cpu.push(((await server.cpu()) - cpu) / 1_000 / RUNS)
  cost.trips.push(((await server.call<number>('roundTrips')) - trips) / RUNS)
  return between
}

type Sides = Readonly<Record<'ours' | 'peer', Cost>>

async function measure(ours: Server, peer: Server, clients: number): Promise<Sides> {
  const sides = { ours: nothing(), peer: nothing() }
  await takeTurns(ROUNDS, {
    ours: sendRuns(ours, clients, sides.ours),
    peer: sendRuns(peer, clients, sides.peer),
  })
  return sides
}

function throughput(bench: string, { ours, peer }: Sides): Row {
  const [own, other] = [1_000 / least(ours.between), 1_000 / least(peer.between)]
  return {
    bench,
    ours: own.toFixed(0),
    peer: other.toFixed(0),
    ratio: times(own / other),
    target: `>= ${times(THROUGHPUT)}`,
    met: own >= other * THROUGHPUT,
  }
}

function cost(bench: string, own: number, other: number): Row {
  return {
    bench,
    ours: `${own.toFixed(2)} ms`,
    peer: `${other.toFixed(2)} ms`,
    ratio: times(own / other),
    target: `<= ${times(COST)}`,
    met: own <= other * COST,
  }
}

function trips(bench: string, { ours }: Sides): Row {
  const own = least(ours.trips)
  return {
    bench,
    ours: own.toFixed(1),
    peer: '',
    ratio: '',
    target: `<= ${MOST_QUERIES}`,
    met: own <= MOST_QUERIES,
  }
}

const measured = async ({ name }: Backend, { url }: Database): Promise<Row[]> => {
  if (name === 'sqlite' && !(await hasSqlitePeer())) {
    console.error('sqlite: its rows need @langchain/langgraph-checkpoint-sqlite, which is not installed.')
    return []
  }
  const servers = await Promise.all([startServer('ours', url), startServer('invoke-bare', url)])
  try {
    const one = await measure(...servers, 1)
    const many = await measure(...servers, CLIENTS)
    const p50 = ({ took }: Cost) => percentile(took, 50)
    return [
      throughput(`${name}: runs/wait on new threads, runs a second of one client, vs a bare handler`, one),
      throughput(`${name}: the same of ${CLIENTS} clients`, many),
      cost(`${name}: the same, p50 of one client`, p50(one.ours), p50(one.peer)),
      cost(`${name}: the same, CPU a run of one client`, least(one.ours.cpu), least(one.peer.cpu)),
      cost(`${name}: the same, CPU a run of ${CLIENTS} clients`, least(many.ours.cpu), least(many.peer.cpu)),
      ...(name === 'sqlite' ? [] : [trips(`${name}: the same, what is sent to the database for a run`, one)]),
    ]
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}

export const storageRuns: Bench = async () => (await withBackends(measured)).flat()

await runAlone(import.meta.url, storageRuns)
