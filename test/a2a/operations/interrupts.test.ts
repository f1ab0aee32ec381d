import { interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { defineAgent } from '../../../src/index.ts'
import type { Json } from '../../kit/events.ts'
import { eventually, type Gate, gate } from '../../kit/wait.ts'
import {
  answerOf,
  artifactsOf,
  clientOf,
  serve,
  stateOf,
  textOf,
  turnsOf,
  VERSIONS,
  type Words,
} from '../served.ts'
import { asks, asksAsGraph, asksTwice } from '../served-agents.ts'

const agents = () => ({ asks: asks(), graph: asksAsGraph(), twice: asksTwice() })
const questionsOf = (task: Json): Json[] =>
  (task.artifacts ?? [])
    .filter(({ name }: Json) => name === 'Interrupt')
    .map(({ parts }: Json) => parts[0].data)

describe.each(VERSIONS)('version %s', (version) => {
  test.each(['asks', 'graph'])(
    '%s: a question is in the status, and an artifact of its own',
    async (assistant) => {
      const { server } = serve(agents())
      const client = clientOf(server, { assistant, version })
      const { result: task } = await client.send({ text: 'hello' })
      expect(stateOf(task)).toBe('input-required')
      expect(task.status.message).toMatchObject({ role: 'agent', taskId: task.id, contextId: task.contextId })
      expect(textOf(task.status.message.parts)).toBe('Which colour?')
      const [question] = questionsOf(task)
      expect(question).toEqual({ id: expect.any(String), value: { question: 'Which colour?' } })
      const { items } = await client.stream({ text: 'hello' })
      expect(items.slice(-2).map(({ kind }: Json) => kind)).toEqual(['artifact-update', 'status-update'])
      expect(artifactsOf(items)).toMatchObject([
        { name: 'Interrupt', parts: [{ data: { value: question.value } }] },
      ])
      const last = items.at(-1)
      expect([stateOf(last), textOf(last.status.message.parts)]).toEqual(['input-required', 'Which colour?'])
    },
  )

  const waysOf = (id: string): Record<string, Words> => ({
    'a text': { text: 'blue' },
    'a command': { text: 'ignored', command: { resume: 'blue' } },
    'a command with ids': { text: 'ignored', command: { resume: { [id]: 'blue' } } },
    'a data part': { parts: [{ kind: 'data', data: { resume: 'blue' } }] },
    'a data part beside text': {
      parts: [
        { kind: 'text', text: 'x' },
        { kind: 'data', data: { resume: 'blue' } },
      ],
    },
    'a list': { parts: [{ kind: 'data', data: { resume: [{ id, value: 'blue' }] } }] },
  })

  test.each(Object.keys(waysOf('')))('%s answers', async (way) => {
    const { server } = serve(agents())
    for (const assistant of ['asks', 'graph'])
      for (const named of [true, false]) {
        const client = clientOf(server, { assistant, version })
        const { result: task } = await client.send({ text: 'hello' })
        const [{ id }] = questionsOf(task) as [Json]
        const answer = { ...waysOf(id)[way], taskId: task.id, ...(named && { contextId: task.contextId }) }
        const { result: done } = named ? await client.send(answer) : await client.stream(answer)
        const { result: now } = await client.get(task.id)
        expect([done.id ?? done.taskId, stateOf(done)]).toEqual([task.id, 'completed'])
        expect([answerOf(now), questionsOf(now)]).toEqual(['It is "blue".', []])
        expect(now.status.message).toBeUndefined()
        expect(turnsOf(now)[0]).toBe('user: hello')
      }
  })

  test.each([
    ['null', { command: { resume: null } }, 'null'],
    ['false', { command: { resume: false } }, 'false'],
    ['an empty list', { command: { resume: [] } }, '[]'],
    ['a list of others', { command: { resume: [1, { id: 'x' }] } }, '[1,{"id":"x"}]'],
    ['an object', { command: { resume: { a: { b: 1 } } } }, '{"a":{"b":1}}'],
    ['data', { parts: [{ kind: 'data', data: { a: 1 } }] }, '{"a":1}'],
    [
      'several texts',
      {
        parts: [
          { kind: 'text', text: 'a' },
          { kind: 'text', text: 'b' },
        ],
      },
      '"a\\nb"',
    ],
    ['an empty text', { text: '' }, '""'],
  ])('the answer may be %s', async (_, words, expected) => {
    const { server } = serve(agents())
    const client = clientOf(server, { assistant: 'asks', version })
    const { result: task } = await client.send({ text: 'hello' })
    const { result: done } = await client.send({ text: 'x', ...words, taskId: task.id })
    expect(answerOf(done)).toBe(`It is ${expected}.`)
  })

  test('several questions are answered by their ids, at once or one after the other', async () => {
    const { server, written } = serve(agents())
    const client = clientOf(server, { assistant: 'twice', version })
    for (const atOnce of [true, false]) {
      const { result: task } = await client.send({ text: 'hello' })
      const [left, right] = questionsOf(task).sort((a, b) => (a.value < b.value ? -1 : 1)) as [Json, Json]
      expect([left.value, right.value]).toEqual(['Left?', 'Right?'])
      expect(textOf(task.status.message.parts)).toMatch(/Left\?|Right\?/)
      const answer = (resume: Json) =>
        client.send({ parts: [{ kind: 'data', data: { resume } }], taskId: task.id })
      const before = written()
      for (const refused of [
        await client.send({ text: 'both', taskId: task.id }),
        await answer('both'),
        await answer([
          { id: left.id, value: 1 },
          { id: 'unknown', value: 2 },
        ]),
        await client.send({
          parts: [
            { kind: 'data', data: { resume: 1 } },
            { kind: 'data', data: { resume: 2 } },
          ],
          taskId: task.id,
        }),
        await client.send({
          parts: [{ kind: 'data', data: { resume: 1 } }],
          command: { resume: 1 },
          taskId: task.id,
        }),
      ])
        expect(refused.error.code).toBe(-32602)
      expect(written()).toBe(before)
      if (atOnce) {
        const { result: done } = await answer([
          { id: right.id, value: 'r' },
          { id: left.id, value: 'l' },
        ])
        expect([stateOf(done), turnsOf(done).slice(1).sort()]).toEqual([
          'completed',
          ['agent: Left?Right?', 'agent: left l', 'agent: right r', 'user: '],
        ])
      } else {
        const { result: half } = await answer([{ id: left.id, value: 'l' }])
        expect([stateOf(half), questionsOf(half)]).toEqual(['input-required', [right]])
        const { result: done } = await client.send({ text: 'r', taskId: task.id })
        expect([stateOf(done), turnsOf(done).slice(1).sort()]).toEqual([
          'completed',
          ['agent: Left?', 'agent: Right?', 'agent: left l', 'agent: right r', 'user: ', 'user: r'],
        ])
      }
    }
  })

  test('an answer over /threads is seen by the task', async () => {
    const { server, engine } = serve(agents())
    const client = clientOf(server, { assistant: 'asks', version })
    const { result: task } = await client.send({ text: 'hello' })
    const threadId = task.contextId
    const [{ id }] = questionsOf(task) as [Json]
    const { runId } = await engine.respond({ threadId, answers: { [id]: 'green' } })
    await engine.wait({ threadId, runId })
    const { result: done } = await client.get(task.id)
    expect([stateOf(done), answerOf(done)]).toEqual(['completed', 'It is "green".'])
    expect((await client.send({ text: 'late', taskId: task.id })).error.code).toBe(-32004)
  })

  test('a conversation that waits takes no message that names no task', async () => {
    const { server, written } = serve(agents())
    const client = clientOf(server, { assistant: 'asks', version })
    const { result: task } = await client.send({ text: 'hello', contextId: 'c' })
    const before = written()
    for (const words of [{ text: 'blue' }, { parts: [{ kind: 'data', data: { a: 1 } }] }]) {
      const { error } = await client.send({ ...words, contextId: 'c' })
      expect(error.code).toBe(-32602)
      expect(error.message).toContain(task.id)
    }
    for (const words of [
      { text: 'x', command: { resume: 1 } },
      { parts: [{ kind: 'data', data: { resume: 1 } }] },
    ])
      for (const contextId of ['c', 'other', undefined]) {
        const { error } = await client.send({ ...words, ...(contextId && { contextId }) })
        expect(error.code).toBe(-32602)
        expect(error.message).toContain('taskId')
      }
    expect(written()).toBe(before)
    expect(stateOf((await client.send({ text: 'blue', contextId: 'c', taskId: task.id })).result)).toBe(
      'completed',
    )
    expect(stateOf((await client.send({ text: 'hello', contextId: 'c' })).result)).toBe('input-required')
  })

  test.each(['asks', 'graph'])('%s: a task that asks is cancelled with its question', async (assistant) => {
    const { server } = serve(agents())
    const client = clientOf(server, { assistant, version })
    const { result: task } = await client.send({ text: 'hello', contextId: 'c' })
    const { result: cancelled } = await client.cancel(task.id)
    expect([stateOf(cancelled), questionsOf(cancelled), cancelled.status.message]).toEqual([
      'canceled',
      [],
      undefined,
    ])
    expect((await client.get(task.id)).result).toEqual(cancelled)
    expect((await client.send({ text: 'blue', taskId: task.id })).error.code).toBe(-32004)
    const { result: next } = await client.send({ text: 'again', contextId: 'c' })
    expect([stateOf(next), questionsOf(next).length]).toEqual(['input-required', 1])
    expect(next.id).not.toBe(task.id)
    const { result: done } = await client.send({ text: 'red', taskId: next.id })
    expect(answerOf(done)).toBe('It is "red".')
  })

  test('a conversation whose answer has failed, or was cancelled, goes on with a new task', async () => {
    const { server, engine } = serve({ fails: failsOnce(), hangs: hangs() })
    for (const assistant of ['fails', 'hangs']) {
      const client = clientOf(server, { assistant, version })
      const { result: task } = await client.send({ text: 'hello', contextId: 'c' })
      const answering = client.send({ text: 'blue', taskId: task.id })
      if (assistant === 'hangs') {
        await eventually(async () => stateOf((await client.get(task.id)).result) === 'working')
        await client.cancel(task.id)
      }
      const { result: ended } = await answering
      expect(stateOf(ended)).toBe(assistant === 'fails' ? 'failed' : 'canceled')
      expect(questionsOf(ended)).toEqual([])
      const { result: next, error } = await client.send({ text: 'again', contextId: 'c' })
      expect(error).toBeUndefined()
      expect([next.id === task.id, stateOf(next)]).toEqual([false, 'input-required'])
    }
    await engine.close()
  })

  test('two answers at once: one counts', async () => {
    const { server } = serve(agents())
    const client = clientOf(server, { assistant: 'asks', version })
    const { result: task } = await client.send({ text: 'hello' })
    const texts = ['red', 'green', 'blue']
    const answers = await Promise.all(texts.map((text) => client.send({ text, taskId: task.id })))
    // Which one comes first is not said.
    const taken = answers.findIndex(({ result }) => result)
    expect(answerOf(answers[taken]!.result)).toBe(`It is "${texts[taken]}".`)
    const others = answers.filter((_, at) => at !== taken)
    for (const { error } of others) expect([-32602, -32004]).toContain(error.code)
  })

  test('a task that has asked and still works is answered by its id, and by nothing else', async () => {
    const slow = gate()
    const { server, engine } = serve({ busy: asksBesides(slow) })
    const client = clientOf(server, { assistant: 'busy', version })
    const { result: task } = await client.send({ text: 'hello', contextId: 'c', blocking: false })
    await eventually(async () => {
      const { error } = await client.send({ text: 'new', contextId: 'c', blocking: false })
      return error?.code === -32602
    })
    const tasks = (await clientOf(server, { assistant: 'busy' }).list({ contextId: 'c' })).result.tasks
    const answering = client.send({ text: 'blue', taskId: task.id })
    await eventually(async () => (await engine.measure()).queued === tasks.length)
    slow.open()
    const { result: done } = await answering
    expect([done.id, stateOf(done)]).toEqual([task.id, 'completed'])
    expect(turnsOf(done)).toContain('agent: It is "blue".')
  })
})

/** Asks, and fails with the first answer. */
const failsOnce = () =>
  defineAgent({
    async run({ interrupt }) {
      await interrupt('Which?')
      throw new Error('no')
    },
  })

/** Asks, and never ends once it is answered. */
const hangs = () =>
  defineAgent({
    async run({ interrupt, signal }) {
      await interrupt('Which?')
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  })

/** Asks in one node, while another one still works. */
const asksBesides = ({ opened }: Gate) =>
  langgraph(
    new StateGraph(MessagesAnnotation)
      .addNode('ask', () => ({
        messages: [{ role: 'ai', content: `It is ${JSON.stringify(interrupt('Which?'))}.` }],
      }))
      .addNode('slow', async () => {
        await opened
        return {}
      })
      .addEdge(START, 'ask')
      .addEdge(START, 'slow')
      .compile(),
  )
