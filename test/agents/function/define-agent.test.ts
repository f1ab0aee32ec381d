import { expect, test } from 'vitest'
import { defineAgent } from '../../../src/agents/function/define-agent.ts'
import { textOf } from '../../../src/messages/index.ts'
import { input, messagesIn, newThread, outline, run, stateOf } from '../run.ts'

const echo = defineAgent({
  name: 'echo',
  async run({ messages, message }) {
    await message(`You said: ${textOf(messages.at(-1)!)}`)
  },
})

test('an echo agent sends the events of a graph with one node', async () => {
  const thread = newThread()
  const events = await run(echo, thread, input({ messages: [{ type: 'human', content: 'hello', id: 'h1' }] }))
  expect(outline(events)).toEqual([
    'checkpoints [] input',
    'values []',
    'tasks []',
    'messages [] message-start',
    'messages [] content-block-start',
    'messages [] content-block-delta',
    'messages [] content-block-finish',
    'messages [] message-finish',
    'updates [] agent',
    'tasks []',
    'checkpoints [] loop',
    'values []',
  ])
  const state = await stateOf(echo, thread)
  expect(messagesIn(state.values).map(({ type, content }) => [type, content])).toEqual([
    ['human', 'hello'],
    ['ai', 'You said: hello'],
  ])
  expect(messagesIn(state.values)[0]!.id).toBe('h1')
  expect(state.next).toEqual([])
  expect(state.tasks).toEqual([])
})

test('a message that the function returns is in the state once, and adds no keys', async () => {
  const brief = defineAgent({ run: ({ message }) => message('Hello') })
  const thread = newThread()
  const events = await run(brief, thread, input({ messages: [{ type: 'human', content: 'Hi' }] }))
  expect(events.filter(({ method }) => method === 'updates')).toHaveLength(1)
  const { values } = await stateOf(brief, thread)
  expect(Object.keys(values)).toEqual(['messages'])
  expect(messagesIn(values).map(({ content }) => content)).toEqual(['Hi', 'Hello'])
})

test('an object with a role that is no message of the thread is a change of the state', async () => {
  const author = defineAgent({ run: () => ({ role: 'assistant', id: 'of-a-team' }) })
  const thread = newThread()
  await run(author, thread, input({ messages: [{ type: 'human', content: 'Hi', id: 'h1' }] }))
  const { values } = await stateOf(author, thread)
  expect(values).toMatchObject({ role: 'assistant', id: 'of-a-team' })
})
