import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { expect, test } from 'vitest'
import { mediaOf } from '../../examples/chat/lib/media.ts'
import { isStopped, reasoningOf, textOf, usageOf } from '../../examples/chat/lib/messages.ts'
import { readableName, readResult, toolCallsOf } from '../../examples/chat/lib/tool-calls.ts'
import { groupsOf, turnsOf } from '../../examples/chat/lib/turns.ts'

const conversation = (turns: number): BaseMessage[] =>
  Array.from({ length: turns }, (_, at) => [
    new HumanMessage({ id: `q${at}`, content: 'Q' }),
    new AIMessage({ id: `a${at}`, content: 'A' }),
  ]).flat()

test('a turn is a question and all that was answered to it', () => {
  const messages = [new AIMessage({ id: 'hello', content: 'Hello' }), ...conversation(2)]
  expect(turnsOf(messages).map(({ id, answer }) => [id, answer.map((message) => message.id)])).toEqual([
    ['hello', ['hello']],
    ['q0', ['a0']],
    ['q1', ['a1']],
  ])
})

test('a token changes the last turn and the last group alone', () => {
  const messages = conversation(21)
  const turns = turnsOf(messages)
  const groups = groupsOf(turns)
  expect(groups.map(({ length }) => length)).toEqual([8, 8, 5])
  const grown = turnsOf([...messages.slice(0, -1), new AIMessage({ id: 'a20', content: 'A B' })], turns)
  expect(grown.map((turn, at) => turn === turns[at])).toEqual([...Array(20).fill(true), false])
  expect(groupsOf(grown, groups).map((group, at) => group === groups[at])).toEqual([true, true, false])
})

test('a call of a tool is running, waiting, stopped, finished, failed or rejected', () => {
  const call = new AIMessage({
    content: '',
    tool_calls: [{ id: 'c', name: 'send_email', args: { to: 'ada' } }],
  })
  const answered = (content: string, status: 'success' | 'error' = 'error') => [
    call,
    new ToolMessage({ tool_call_id: 'c', content, status }),
  ]
  const statuses = [
    toolCallsOf(call, [call], 'running'),
    toolCallsOf(call, [call], 'waiting'),
    toolCallsOf(call, [call], 'idle'),
    toolCallsOf(call, answered('Sent.', 'success'), 'running'),
    toolCallsOf(call, answered('No route to host.'), 'idle'),
    toolCallsOf(call, answered('User rejected the tool call for `send_email` with id c'), 'idle'),
    toolCallsOf(
      call,
      answered('Tool call send_email with id c was cancelled - another message came in.'),
      'idle',
    ),
  ].map(([one]) => one?.status)
  expect(statuses).toEqual(['running', 'waiting', 'stopped', 'finished', 'failed', 'rejected', 'stopped'])
})

test('names and results of tools are made readable', () => {
  expect(['send_email', 'getWeather', 'math-whiz'].map(readableName)).toEqual([
    'Send email',
    'Get weather',
    'Math whiz',
  ])
  expect(readResult('{"a":1}')).toEqual({ a: 1 })
  expect(readResult('{not json')).toBe('{not json')
  expect(readResult('plain')).toBe('plain')
})

test('text, reasoning, images and files of a message are told apart', () => {
  const message = new AIMessage({
    content: [
      { type: 'reasoning', reasoning: 'Hm.' },
      { type: 'text', text: 'Here.' },
      { type: 'image', mimeType: 'image/png', data: 'AAAA', metadata: { filename: 'a.png' } },
      { type: 'file', mime_type: 'text/csv', base64: 'QUE=', metadata: { name: 'a.csv' } },
      { type: 'image', url: 'javascript:alert(1)' },
    ],
  })
  expect([textOf(message), reasoningOf(message)]).toEqual(['Here.', 'Hm.'])
  expect(mediaOf(message)).toEqual([
    { kind: 'image', mimeType: 'image/png', name: 'a.png', url: 'data:image/png;base64,AAAA' },
    { kind: 'file', mimeType: 'text/csv', name: 'a.csv', url: 'data:text/csv;base64,QUE=' },
  ])
})

test('tokens of an answer are those of all its model calls, and are left out where no model told', () => {
  const usage = (input_tokens: number, output_tokens: number) =>
    new AIMessage({
      content: '',
      usage_metadata: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
    })
  expect(usageOf([usage(1, 2), new AIMessage('x'), usage(10, 20)])).toEqual({ input: 11, output: 22 })
  expect(usageOf([new AIMessage('x')])).toBeUndefined()
})

test('an answer is stopped when one of its messages was cancelled', () => {
  const cut = new AIMessage({ content: 'Once', response_metadata: { finish_reason: 'cancelled' } })
  expect([isStopped([cut]), isStopped([new AIMessage('Once')])]).toEqual([true, false])
})
