import { messagesProjection } from '@langchain/langgraph-sdk/stream'
import { expect, onTestFinished, test } from 'vitest'
import { deepAgent } from '../../examples/chat/server/agents/graphs.ts'
import { scriptedModels } from '../../examples/chat/server/models/models.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { node } from '../conformance/targets/node.ts'
import type { Json } from '../kit/events.ts'
import { untilStore } from '../kit/stream-store.ts'
import { brief, type Controller, human, setStage } from '../threads/sdk/stage.ts'

/** What the panel of a subagent reads: its messages, from now on. */
function messagesOf(page: Controller, { namespace }: Json) {
  const { store, release } = page.registry.acquire(messagesProjection(namespace))
  onTestFinished(release)
  return store
}

test('a page that watches a run has the messages of its subagents while they are written, and when it is over', async () => {
  const stage = await setStage(node, { agent: langgraph(deepAgent(scriptedModels(5))) })
  const page = stage.page('agent')
  const submitted = page.submit(human('What is 12 * (3 + 4), and what is a checkpoint?'))
  const named = (name: string, subagents: ReadonlyMap<string, Json>): Json =>
    [...subagents.values()].find((subagent) => subagent.name === name)
  const begun = await untilStore(page.subagentStore, (subagents) => {
    const subagent = named('researcher', subagents)
    return subagent !== undefined && subagent.namespace[0] !== `tools:${subagent.id}`
  })
  const live = messagesOf(page, named('researcher', begun))
  await untilStore(live, ([, second]) => second !== undefined && brief(second) === 'ai -> search')
  expect(page.rootStore.getSnapshot().isLoading).toBe(true)
  await submitted

  const later = messagesOf(page, named('math-whiz', page.subagentStore.getSnapshot()))
  const answer = 'ai: 12 * (3 + 4) = 84.'
  const read = await untilStore(later, (messages) => messages.map(brief).includes(answer))
  expect(read.map(brief)).toEqual([
    'human: Compute 12 * (3 + 4)',
    'ai -> calculator',
    'tool: 12 * (3 + 4) = 84',
    answer,
  ])
})
