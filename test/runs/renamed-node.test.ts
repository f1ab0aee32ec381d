import { interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { memoryStorage } from '../../src/index.ts'
import { engineOf } from '../kit/engine.ts'

/** A graph that asks in a node of this name, and says what it was told. */
const graph = (name: string) =>
  langgraph(
    new StateGraph(MessagesAnnotation)
      .addNode(name, ({ messages }) => {
        const told = messages.at(-1)!.text
        return {
          messages: [{ role: 'assistant', content: told === 'ask' ? String(interrupt('Which?')) : told }],
        }
      })
      .addEdge(START, name as never)
      .compile(),
  )

const says = (content: string) => ({ messages: [{ role: 'user', content }] })

test('a message for a question whose node the new release does not have is a new input', async () => {
  const storage = memoryStorage()
  const old = engineOf({ a: graph('ask') }, storage)
  const asked = await old.start({ threadId: 't', assistantId: 'a', input: says('ask') })
  await old.wait({ threadId: 't', runId: asked.runId })
  expect((await old.findThread({ threadId: 't' }))!.interrupts).toHaveLength(1)
  const now = engineOf({ a: graph('question') }, storage)
  const { runId } = await now.start({ threadId: 't', assistantId: 'a', input: says('hello') })
  await now.wait({ threadId: 't', runId })
  const thread = (await now.findThread({ threadId: 't' }))!
  const { values } = (await now.readState(thread))!
  expect((values.messages as readonly { content: string }[]).map(({ content }) => content)).toEqual([
    'ask',
    'hello',
    'hello',
  ])
  expect(thread).toMatchObject({ status: 'idle', interrupts: [] })
})

test('an answer to a question whose node the new release does not have is refused', async () => {
  const storage = memoryStorage()
  const old = engineOf({ a: graph('ask') }, storage)
  const asked = await old.start({ threadId: 't', assistantId: 'a', input: says('ask') })
  await old.wait({ threadId: 't', runId: asked.runId })
  const [question] = (await old.findThread({ threadId: 't' }))!.interrupts
  const now = engineOf({ a: graph('question') }, storage)
  const answers = { [question!.id]: 'the first' }
  await expect(now.respond({ threadId: 't', answers })).rejects.toMatchObject({ code: 'no_such_interrupt' })
})

test('a message for a question that is open is its answer', async () => {
  const storage = memoryStorage()
  const engine = engineOf({ a: graph('ask') }, storage)
  const asked = await engine.start({ threadId: 't', assistantId: 'a', input: says('ask') })
  await engine.wait({ threadId: 't', runId: asked.runId })
  const { runId } = await engine.start({ threadId: 't', assistantId: 'a', input: 'the first' })
  await engine.wait({ threadId: 't', runId })
  const { values } = (await engine.readState((await engine.findThread({ threadId: 't' }))!))!
  expect((values.messages as readonly { content: string }[]).map(({ content }) => content)).toEqual([
    'ask',
    'the first',
  ])
})
