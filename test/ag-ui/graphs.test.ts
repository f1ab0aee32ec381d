import { describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { failing } from '../fixtures/failing.ts'
import * as graphs from '../fixtures/graphs.ts'
import { clientOf, connected, GENERATIONS, serveAgents } from './rig.ts'

const resumes = { resume: (id: string) => ({ interruptId: id, status: 'resolved' as const, payload: true }) }

/** Each graph, to its end: its questions are answered with true. */
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
  failing,
  reporter: () =>
    graphs.toolAgent(
      graphs.inOrder({ toolCalls: [{ id: 'c1', name: 'report', args: {} }] }, { text: 'Done.' }),
    ),
  broken: () =>
    graphs.toolAgent(
      graphs.inOrder({ toolCalls: [{ id: 'c1', name: 'broken', args: {} }] }, { text: 'Sorry.' }),
    ),
  endless: () => graphs.endless(),
}

describe.each(GENERATIONS)('the client of $name', (generation) => {
  test.each(Object.entries(GRAPHS))(
    '%s: each event fits, and the messages are the same for who comes later',
    async (_, graph) => {
      const agent = langgraph(graph())
      const { base } = await serveAgents({ agent })
      const client = clientOf(generation, base)
      if (agent.takesMessages) client.say('Hello')
      await client.agent.runAgent()
      for (let turns = 0; client.agent.pendingInterrupts.length > 0; turns++) {
        expect(turns).toBeLessThan(3)
        const late = await connected(generation, base, { threadId: client.threadId })
        expect(late.agent.messages).toEqual(client.agent.messages)
        expect(late.agent.pendingInterrupts).toEqual(client.agent.pendingInterrupts)
        await client.agent.runAgent({
          resume: client.agent.pendingInterrupts.map(({ id }) => resumes.resume(id)),
        })
      }
      if (process.env.SHOW) console.log(client.events.map((e) => JSON.stringify(e)).join('\n'))
      const late = await connected(generation, base, { threadId: client.threadId })
      expect(late.agent.messages).toEqual(client.agent.messages)
      expect(late.agent.state).toEqual(client.agent.state)
    },
  )
})
