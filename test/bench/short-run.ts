import { type Bench, least, runAlone, takeTurns, times } from './support/report.ts'
import { withServers } from './support/server.ts'

/** Measures the CPU time of a short run in process: a new thread, the command, and the stream to the end of the run. */

const RUNS = 50
/** The first rounds are those of a process that has not compiled its code. */
const ROUNDS = 24
const GRAPH_TARGET = 1.35
const FUNCTION_TARGET_MS = 0.7

export const shortRun: Bench = () =>
  withServers(['ours'], async (server) => {
    const of = (assistantId: string) => () =>
      server.call<number>('shortRuns', { assistantId, say: '3', times: RUNS })
    const cpu = await takeTurns(ROUNDS, {
      graph: of('tokens'),
      bare: () => server.call<number>('bareRuns', { say: '3', times: RUNS }),
      answer: of('answer'),
    })
    const ms = (values: readonly number[]) => least(values) / 1_000
    const ratio = ms(cpu.graph) / ms(cpu.bare)
    return [
      {
        bench: 'a short run of a graph, vs the bare graph',
        ours: `${ms(cpu.graph).toFixed(2)} ms`,
        peer: `${ms(cpu.bare).toFixed(2)} ms`,
        ratio: times(ratio),
        target: `<= ${times(GRAPH_TARGET)}`,
        met: ratio <= GRAPH_TARGET,
      },
      {
        bench: 'a short run of a function',
        ours: `${ms(cpu.answer).toFixed(2)} ms`,
        peer: '',
        ratio: '',
        target: `<= ${FUNCTION_TARGET_MS} ms`,
        met: ms(cpu.answer) <= FUNCTION_TARGET_MS,
      },
    ]
  })

await runAlone(import.meta.url, shortRun)
