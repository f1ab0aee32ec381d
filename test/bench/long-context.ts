import { type Bench, least, type Row, runAlone, times } from './support/report.ts'
import { type Server, withServers } from './support/server.ts'

/** Measures what a turn of a conversation costs once it has had a thousand turns, over what its tenth has cost. */

const TURNS = 1_000
const TARGET = 1.3
/** Turns of one measurement. */
const SOME = 10
const ROUNDS = 6
const WAYS = [
  { assistantId: 'echo', face: 'a2a', what: 'message/send to a function' },
  { assistantId: 'echo', face: 'wait', what: 'runs/wait of a function' },
  { assistantId: 'echoGraph', face: 'a2a', what: 'message/send to a graph' },
  { assistantId: 'echoGraph', face: 'wait', what: 'runs/wait of a graph' },
] as const

export const longContext: Bench = () =>
  withServers(['ours'], async (server) => {
    const rows: Row[] = []
    for (const way of WAYS) rows.push(await measure(server, way))
    return rows
  })

async function measure(server: Server, { assistantId, face, what }: (typeof WAYS)[number]): Promise<Row> {
  const turns = (context: string, count: number) =>
    server.call<number>('longTurns', { context, assistantId, face, times: count })
  await turns(crypto.randomUUID(), 10 * SOME)
  const long = crypto.randomUUID()
  for (let turn = 0; turn < TURNS; turn += SOME) await turns(long, SOME)
  const early: number[] = []
  const late: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const short = crypto.randomUUID()
    await turns(short, SOME / 2)
    early.push(await turns(short, SOME))
    late.push(await turns(long, SOME))
  }
  const ratio = least(late) / least(early)
  return {
    bench: `${what}, turn ${TURNS.toLocaleString('en')}, vs turn 10`,
    ours: `${(least(late) / 1_000).toFixed(2)} ms`,
    peer: `${(least(early) / 1_000).toFixed(2)} ms`,
    ratio: times(ratio),
    target: `<= ${times(TARGET)}`,
    met: ratio <= TARGET,
  }
}

await runAlone(import.meta.url, longContext)
