import { runBody } from './servers/rest.ts'
import { type Bench, least, type Row, runAlone, takeTurns, times } from './support/report.ts'
import { newThread, post } from './support/run.ts'
import { type Server, withServers } from './support/server.ts'

/**
 * Measures runs over the REST of LangGraph's platform: `runs/wait` of an echo graph against invoking the graph in a fetch handler and
 * against LangGraph's dev server, and `runs/stream` against the same run over the protocol.
 */

const SAY = 'The quick brown fox jumps over the lazy dog.'
const RUNS = 50
const ROUNDS = 16
/** The dev server takes most of a second for each run. */
const DEV_RUNS = 24
const DEV_ROUNDS = 3
/** Requests at once. */
const CONCURRENCY = 8

const WAIT_TARGET = 1.15
const STREAM_TARGET = 1.1
const DEV_TARGET = 3

const inProcess = (server: Server) => () => server.call<number>('waitRuns', { say: SAY, times: RUNS })

async function waitOnce({ port }: Server): Promise<void> {
  const answer = await post(
    port,
    `/threads/${newThread()}/runs/wait`,
    JSON.stringify(runBody('echoGraph', SAY)),
  )
  if (!answer.includes('"type":"ai"')) throw new Error(answer)
}

/** Sends runs over sockets. Gives the server's CPU time of each in microseconds, and notes how long each took of the clock. */
const overSockets =
  (server: Server, count: number, took: number[] = []) =>
  async () => {
    const before = await server.cpu()
    const began = performance.now()
    let left = count
    const worker = async () => {
      while (left-- > 0) await waitOnce(server)
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, worker))
    took.push((performance.now() - began) / count)
    return ((await server.cpu()) - before) / count
  }

function row(bench: string, ours: readonly number[], peer: readonly number[], target?: number): Row {
  const ratio = least(ours) / least(peer)
  return {
    bench,
    ours: `${least(ours).toFixed(0)} us`,
    peer: `${least(peer).toFixed(0)} us`,
    ratio: times(ratio),
    target: target === undefined ? '' : `<= ${times(target)}`,
    ...(target !== undefined && { met: ratio <= target }),
  }
}

function throughput(bench: string, ours: readonly number[], peer: readonly number[]): Row {
  const [own, other] = [1_000 / least(ours), 1_000 / least(peer)]
  return {
    bench,
    ours: own.toFixed(0),
    peer: other.toFixed(0),
    ratio: times(own / other),
    target: `>= ${times(DEV_TARGET)}`,
    met: own / other >= DEV_TARGET,
  }
}

const waits = () =>
  withServers(['ours', 'invoke-bare', 'langgraph-dev'], async (ours, bare, dev) => {
    const direct = await takeTurns(ROUNDS, { ours: inProcess(ours), bare: inProcess(bare) })
    const sent = await takeTurns(ROUNDS, { ours: overSockets(ours, RUNS), bare: overSockets(bare, RUNS) })
    const took = { ours: [] as number[], dev: [] as number[] }
    const beside = await takeTurns(DEV_ROUNDS, {
      ours: overSockets(ours, DEV_RUNS, took.ours),
      dev: overSockets(dev, DEV_RUNS, took.dev),
    })
    return [
      row(
        'runs/wait of an echo graph, vs a fetch handler that invokes it',
        direct.ours,
        direct.bare,
        WAIT_TARGET,
      ),
      row('the same over node:http', sent.ours, sent.bare, WAIT_TARGET),
      row("the same, vs LangGraph's dev server", beside.ours, beside.dev),
      throughput('the same, runs a second with 8 at once, by the clock', took.ours, took.dev),
    ]
  })

/** The same events by their names in both. */
const CHANNELS = ['values', 'updates', 'messages', 'tasks', 'lifecycle']
const MODES = ['values', 'updates', 'messages-tuple', 'tasks']

const streams = () =>
  withServers(['ours'], async (server) => {
    const rows: Row[] = []
    for (const [name, assistantId, say, runs] of [
      ['an echo graph', 'echoGraph', SAY, RUNS],
      ['a graph of 200 tokens', 'tokens', '200', 5],
    ] as const) {
      const cpu = await takeTurns(ROUNDS, {
        rest: () => server.call<number>('streamRuns', { assistantId, say, times: runs, modes: MODES }),
        protocol: () =>
          server.call<number>('shortRuns', { assistantId, say, times: runs, channels: CHANNELS }),
      })
      rows.push(row(`runs/stream of ${name}, vs the protocol`, cpu.rest, cpu.protocol, STREAM_TARGET))
    }
    return rows
  })

export const platform: Bench = async () => [...(await waits()), ...(await streams())]

await runAlone(import.meta.url, platform)
