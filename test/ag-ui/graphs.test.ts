import { describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { failing } from '../fixtures/failing.ts'
import * as graphs from '../fixtures/graphs.ts'
import type { Json } from '../kit/events.ts'
import { type Client, clientOf, GENERATIONS, serveAgents } from './rig.ts'

const calling = (name: string) =>
  graphs.toolAgent(
    graphs.inOrder({ text: 'One moment.', toolCalls: [{ id: 'c1', name, args: {} }] }, { text: 'Done.' }),
  )

const GRAPHS = {
  calculator: graphs.calculator,
  supervised: graphs.supervised,
  researchers: () => graphs.researchers(),
  'researchers that ask': () => graphs.researchers({ asks: true }),
  approval: graphs.approval,
  twoApprovals: graphs.twoApprovals,
  nestedApproval: graphs.nestedApproval,
  threeSteps: () => graphs.threeSteps(),
  chat: () => graphs.chat(),
  fanOut: () => graphs.fanOut(['a', 'b', 'c']),
  endless: () => graphs.endless(),
  failing,
  'a tool that reports': () => calling('report'),
  'a tool that fails': () => calling('broken'),
}

/** The messages of the agent itself. */
const own = (messages: readonly Json[]) => messages.filter(({ subagentRunId }) => subagentRunId === undefined)

/** Notes the messages that a client has before the server sends them whole at the end of a run. */
function beforeTheEnd({ agent }: Client): Json[] {
  let last: Json[] = []
  agent.subscribe({
    onMessagesSnapshotEvent: ({ messages }) => {
      last = own(messages)
    },
  })
  return new Proxy(last, { get: (_, key) => Reflect.get(last, key) })
}

describe.each(GENERATIONS)('the client of $name', (generation) => {
  test.each(Object.entries(GRAPHS))(
    '%s: every event fits, and who connects at any moment gets the same messages and state',
    async (_, graph) => {
      const agent = langgraph(graph())
      const { base } = await serveAgents({ agent })
      const client = clientOf(generation, base)
      const { threadId } = client
      const streamed = beforeTheEnd(client)
      const late: { client: Client; ended: Promise<unknown> }[] = []
      const join = () => {
        const joined = clientOf(generation, base, { threadId })
        late.push({ client: joined, ended: joined.agent.connectAgent() })
      }
      // One more client for every eighth event.
      client.agent.subscribe({ onEvent: () => void (client.events.length % 8 === 0 && join()) })
      const settled = async () => {
        join()
        await Promise.all(late.map(({ ended }) => ended))
        const { messages, state, pendingInterrupts } = client.agent
        if (client.last().type === 'RUN_FINISHED' && agent.takesMessages)
          expect([...streamed]).toEqual(own(messages))
        for (const { client: joined } of late.splice(0)) {
          // Of a thread that is not there yet, a client is told nothing.
          if (joined.events.length === 0) continue
          if (agent.takesMessages) expect(joined.agent.messages).toEqual(messages)
          expect([joined.agent.state, joined.agent.pendingInterrupts]).toEqual([state, pendingInterrupts])
        }
      }
      if (agent.takesMessages) client.say('Hello')
      await client.agent.runAgent()
      await settled()
      for (let turns = 0; client.agent.pendingInterrupts.length > 0; turns++) {
        expect(turns).toBeLessThan(3)
        const resume = client.agent.pendingInterrupts.map(({ id }) => ({
          interruptId: id,
          status: 'resolved' as const,
          payload: true,
        }))
        await client.agent.runAgent({ resume })
        await settled()
      }
      expect(client.types().filter((type) => type === 'RUN_STARTED')).toHaveLength(client.bodies.length)
      expect(['RUN_FINISHED', 'RUN_ERROR']).toContain(client.last().type)
    },
  )
})
