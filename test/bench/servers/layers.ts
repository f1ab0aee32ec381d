import type { Agent, StreamModesRun } from '../../../src/agents/agent.ts'
import { subscribe } from '../../../src/engine/index.ts'
import type { AgentServer } from '../../../src/index.ts'
import { memoryCheckpointer } from '../../../src/index.ts'
import { ALL_CHANNELS } from '../../kit/channels.ts'

/** What a short run is made of: the same work with one more layer each. */
export type Layer = 'agent' | 'classic agent' | 'engine' | 'engine, read' | 'answer'

interface Layers {
  readonly layer: Layer
  readonly assistantId: string
  readonly say: string
  readonly times: number
}

const input = (say: string) => ({ messages: [{ type: 'human', content: say }] })

/** Runs on new threads, one after the other. Gives the CPU time of each in microseconds. */
export const layers =
  ({ engine }: Pick<AgentServer, 'engine'>) =>
  async ({ layer, assistantId, say, times }: Layers): Promise<number> => {
    const checkpointer = memoryCheckpointer()
    const agent = engine.agents.get(assistantId)!
    const work: Readonly<Record<Layer, () => Promise<unknown>>> = {
      agent: () => iterate(agent, checkpointer, say),
      'classic agent': () => iterate(agent, checkpointer, say, { modes: ['values'], subgraphs: false }),
      async engine() {
        const threadId = crypto.randomUUID()
        const { runId } = await engine.start({ threadId, assistantId, input: input(say) })
        await engine.wait({ threadId, runId })
      },
      async 'engine, read'() {
        const threadId = crypto.randomUUID()
        const reader = subscribe(engine, { threadId, filter: { channels: ALL_CHANNELS } })
        await engine.start({ threadId, assistantId, input: input(say) })
        for (;;) {
          const bytes = await reader.next()
          if (Buffer.from(bytes!).includes(`"completed","graph_name":"${assistantId}"`)) break
        }
        reader.cancel()
      },
      async answer() {
        const threadId = crypto.randomUUID()
        const answer = await engine.follow({
          threadId,
          start: { assistantId, input: input(say), answer: { details: {} } },
        })
        await answer.ended()
      },
    }
    const before = process.cpuUsage()
    for (let i = 0; i < times; i++) await work[layer]()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / times
  }

async function iterate(
  agent: Agent,
  checkpointer: ReturnType<typeof memoryCheckpointer>,
  say: string,
  classic?: StreamModesRun,
): Promise<void> {
  const events = agent.stream({
    threadId: crypto.randomUUID(),
    runId: crypto.randomUUID(),
    assistantId: 'bench',
    start: { kind: 'input', value: input(say) },
    config: { configurable: {} },
    classic,
    principal: null,
    checkpointer,
    graphStore: undefined as never,
    signal: new AbortController().signal,
  })
  for await (const _ of events);
}
