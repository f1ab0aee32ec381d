import { type Bench, least, type Row, runAlone, takeTurns } from './support/report.ts'
import { withServers } from './support/server.ts'

/** Measures what a short run costs in process, with one more layer in each row: CPU time of a run on a new thread. */

const RUNS = 50
const ROUNDS = 20

export const floors: Bench = () =>
  withServers(['ours', 'invoke-bare'], async (server, peer) => {
    const layer = (name: string, assistantId: string, say: string) => () =>
      server.call<number>('layers', { layer: name, assistantId, say, times: RUNS })
    const cpu = await takeTurns(ROUNDS, {
      'function: the agent alone': layer('agent', 'answer', '3'),
      'function: and the engine': layer('engine', 'answer', '3'),
      'function: and a reader of its log': layer('engine, read', 'answer', '3'),
      'function: and two requests': () =>
        server.call<number>('shortRuns', { assistantId: 'answer', say: '3', times: RUNS }),
      'graph: LangGraph alone': () => server.call<number>('bareRuns', { say: '3', times: RUNS }),
      'graph: as an agent': layer('agent', 'tokens', '3'),
      'graph: and the engine': layer('engine', 'tokens', '3'),
      'graph: and a reader of its log': layer('engine, read', 'tokens', '3'),
      'graph: and two requests': () =>
        server.call<number>('shortRuns', { assistantId: 'tokens', say: '3', times: RUNS }),
      'runs/wait: LangGraph behind a bare handler': () =>
        peer.call<number>('waitRuns', { say: 'hello', times: RUNS }),
      'runs/wait: the graph as an agent, in the classic way': layer('classic agent', 'echoGraph', 'hello'),
      'runs/wait: the request': () => server.call<number>('waitRuns', { say: 'hello', times: RUNS }),
      'A2A: an answer of the engine': layer('answer', 'answer', 'hello'),
    })
    return Object.entries(cpu).map(
      ([bench, values]): Row => ({
        bench,
        ours: `${(least(values) / 1_000).toFixed(2)} ms`,
        peer: '',
        ratio: '',
        target: '',
      }),
    )
  })

await runAlone(import.meta.url, floors)
