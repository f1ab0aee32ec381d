import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { threeSteps } from '../fixtures/graphs.ts'
import { serveAgents } from '../kit/host.ts'
import { gate } from '../kit/wait.ts'

/** A graph of three steps that waits in its second one to be cancelled, in the run of this number. */
export function waitingIn(number: number) {
  const { opened: reached, open: reach } = gate()
  let runs = 0
  const graph = threeSteps((name, { signal }) => {
    if (name !== 'two' || ++runs !== number) return
    reach()
    return new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)))
  })
  return { graph, reached }
}

/** A thread whose graph waits in its second step, the second time it runs, and the state before that run. */
export async function inSecondRun() {
  const { graph, reached } = waitingIn(2)
  const host = await serveAgents({ agents: { steps: langgraph(graph) } })
  const thread = host.thread()
  await thread.start({ notes: ['first'] })
  const before = await thread.idle()
  const run = await thread.start({ notes: ['second'] })
  await reached
  return { thread, before, run }
}
