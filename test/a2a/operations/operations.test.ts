import { describe, expect, test } from 'vitest'
import { defineAgent } from '../../../src/index.ts'
import { gate } from '../../kit/wait.ts'
import { answerOf, artifactsOf, clientOf, serve, stateOf, turnsOf, VERSIONS } from '../served.ts'
import { echo, graph, held, notes } from '../served-agents.ts'

describe.each(VERSIONS)('version %s', (version) => {
  test.each(['graph', 'echo'])(
    '%s: a message is answered by a task with its history and its answer',
    async (assistant) => {
      const { server, errors } = serve({ graph: graph(), echo: echo() })
      const client = clientOf(server, { assistant, version })
      const { result: task } = await client.send({ text: 'hello', messageId: 'first' })
      expect(stateOf(task)).toBe('completed')
      expect(task.id.startsWith(`${task.contextId}:`)).toBe(true)
      expect(turnsOf(task)).toEqual(['user: hello', 'agent: You said: hello'])
      expect(task.history[0]).toMatchObject({
        messageId: 'first',
        contextId: task.contextId,
        taskId: task.id,
      })
      expect(answerOf(task)).toBe('You said: hello')
      expect(task.status.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      const { result: got } = await client.get(task.id)
      expect(got).toEqual(task)
      expect(errors).toEqual([])
    },
  )

  test.each(['graph', 'echo'])(
    '%s: a second message goes on with the conversation in a task of its own',
    async (assistant) => {
      const { server } = serve({ graph: graph(), echo: echo() })
      const client = clientOf(server, { assistant, version })
      const { result: first } = await client.send({ text: 'one' })
      const { result: second } = await client.send({ text: 'two', contextId: first.contextId })
      expect(second.contextId).toBe(first.contextId)
      expect(second.id).not.toBe(first.id)
      expect(turnsOf(second)).toEqual(['user: two', 'agent: You said: two'])
      expect((await client.get(first.id)).result).toEqual(first)
    },
  )

  test('a message that nobody waits for is answered at once, and the task goes on', async () => {
    const open = gate()
    const { server } = serve({ held: held(open) })
    const client = clientOf(server, { assistant: 'held', version })
    const { result: task } = await client.send({ text: 'x', blocking: false })
    expect(stateOf(task)).toBe('working')
    expect(task.artifacts ?? []).toEqual([])
    const waits = client.send({ text: 'x', messageId: 'again', contextId: task.contextId })
    open.open()
    expect(stateOf((await waits).result)).toBe('completed')
    expect(answerOf((await client.get(task.id)).result)).toBe('half x')
  })

  test.each(['graph', 'echo'])('%s: a stream gives the task, its chunks and its end', async (assistant) => {
    const { server } = serve({ graph: graph(), echo: echo() })
    const client = clientOf(server, { assistant, version })
    const { items } = await client.stream({ text: 'one two three', messageId: 'm' })
    const [first] = items
    expect(first).toMatchObject({ kind: 'task', status: { state: 'submitted' } })
    expect(turnsOf(first)).toEqual(['user: one two three'])
    expect(items.slice(1, 2)).toMatchObject([{ kind: 'status-update', status: { state: 'working' } }])
    expect(items.at(-1)).toMatchObject({ kind: 'status-update', status: { state: 'completed' } })
    const { result: task } = await client.get(first.id)
    const [artifact] = artifactsOf(items)
    expect(answerOf({ artifacts: [artifact] })).toBe('You said: one two three')
    expect(artifact.artifactId).toBe(task.artifacts[0].artifactId)
  })

  test('historyLength bounds the history everywhere', async () => {
    const { server, written } = serve({ echo: echo() })
    const client = clientOf(server, { assistant: 'echo', version })
    const { result: task } = await client.send({ text: 'a' })
    const histories = async (historyLength: number) => {
      const sent = await client.send({ text: 'b', historyLength })
      const got = await client.get(task.id, { historyLength })
      const streamed = await client.stream({ text: 'c', historyLength })
      return [sent.result, got.result, streamed.items[0]].map(({ history }) => history?.length)
    }
    expect(await histories(0)).toEqual([undefined, undefined, undefined])
    expect(await histories(1)).toEqual([1, 1, 1])
    expect(await histories(2)).toEqual([2, 2, 1])
    expect(await histories(1_000)).toEqual([2, 2, 1])
    const [newest] = (await client.get(task.id, { historyLength: 1 })).result.history
    expect(newest.role).toBe('agent')
    const before = written()
    const refused = [
      await client.send({ text: 'd', historyLength: -1 }),
      await client.stream({ text: 'd', historyLength: -1 }),
      await client.get(task.id, { historyLength: -1 }),
      await client.cancel(task.id, { historyLength: 1.5 }),
    ]
    for (const { error } of refused) {
      expect(error.code).toBe(-32602)
      expect(error.message).toContain('historyLength')
    }
    expect(written()).toBe(before)
  })

  test('an agent without messages takes data only, which is its input', async () => {
    const { server, written } = serve({ notes: notes() })
    const client = clientOf(server, { assistant: 'notes', version })
    const before = written()
    for (const parts of [
      [{ kind: 'text', text: 'x' }],
      [
        { kind: 'data', data: { notes: ['a'] } },
        { kind: 'text', text: 'x' },
      ],
      [{ kind: 'file', file: { uri: 'https://example.com/x' } }],
    ]) {
      const { error } = await client.send({ parts })
      expect(error.code).toBe(-32602)
      expect(error.message).toContain('messages')
    }
    expect(written()).toBe(before)
    const { result: task } = await client.send({
      parts: [
        { kind: 'data', data: { notes: ['a'], other: 1 } },
        { kind: 'data', data: { notes: ['b'] } },
      ],
      contextId: 'c',
    })
    expect(stateOf(task)).toBe('completed')
    expect([task.history ?? [], task.artifacts ?? []]).toEqual([[], []])
  })

  test('a message of data alone does not repeat the answer before', async () => {
    const { server } = serve({ graph: graph(), silent: silent() })
    for (const assistant of ['silent']) {
      const client = clientOf(server, { assistant, version })
      const { result: first } = await client.send({ text: 'hello' })
      expect(answerOf(first)).toBe('Hello.')
      const { contextId } = first
      const data = { parts: [{ kind: 'data', data: { colour: 'blue' } }], contextId }
      const { result: second } = await client.send(data)
      expect(stateOf(second)).toBe('completed')
      expect([second.history ?? [], second.artifacts ?? []]).toEqual([[], []])
      const { items } = await client.stream({ ...data })
      expect(artifactsOf(items)).toEqual([])
      expect((await client.get(first.id)).result).toEqual(first)
    }
  })
})

/** Answers text, and says nothing about data. */
const silent = () =>
  defineAgent({
    inputKeys: ['colour'],
    async run({ messages, message, state }) {
      if (state.colour === undefined && messages.length === 1) await message('Hello.')
    },
  })
