import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { DATABASES } from '../kit/databases.ts'
import type { Json } from '../kit/events.ts'
import { answerOf, byToken, type Client, clientOf, serve, stateOf, threads, turnsOf } from './served.ts'
import { asks, echo, graph } from './served-agents.ts'

/** The client in the documentation of LangGraph's platform: from its second message on it sends both ids of the last answer. */
function talker(metadata: 'with' | 'without', threadId: string = randomUUID()) {
  let ids: { contextId?: string; taskId?: string } = {}
  return async (client: Client, text: string, how: 'send' | 'stream' = 'send'): Promise<Json> => {
    const outerMetadata = metadata === 'with' ? { thread_id: ids.contextId ?? threadId } : undefined
    const messageId = randomUUID()
    const { result, items, error } = await client[how]({
      text,
      messageId,
      ...ids,
      ...(outerMetadata && { outerMetadata }),
    })
    expect(error).toBeUndefined()
    const task = how === 'send' ? result : items[0]
    ids = { contextId: task.contextId, taskId: task.id }
    return task
  }
}

const v03 = (server: Json, assistant: string, token = '') =>
  clientOf(server, { assistant, version: '0.3', token })
const v1 = (server: Json, assistant: string) => clientOf(server, { assistant, version: '1.0' })

describe.each(Object.keys(DATABASES))('over %s', (name) => {
  describe.each(['with', 'without'] as const)('%s metadata beside the params', (metadata) => {
    test('both ids of the last answer go on with the conversation, in a new task', async () => {
      const { server, errors } = serve({ graph: graph() }, await (await DATABASES[name]!())())
      const client = v03(server, 'graph')
      const say = talker(metadata)
      const one = await say(client, 'one')
      const two = await say(client, 'two')
      const three = await say(client, 'three', 'stream')
      expect([one, two].map(answerOf)).toEqual(['You said: one', 'You said: two'])
      expect(new Set([one, two, three].map(({ id }) => id)).size).toBe(3)
      expect([two, three].map(({ contextId }) => contextId)).toEqual([one.contextId, one.contextId])
      const { values } = await threads(server, `/${one.contextId}/state`)
      expect(values.messages).toHaveLength(6)
      expect(errors).toEqual([])
    })

    test('they begin a conversation with another agent, and go on with that one', async () => {
      const agents = { a: graph(), b: echo() }
      const open = await DATABASES[name]!()
      const [here, there] = [serve(agents, await open()), serve({ c: echo() }, await open())]
      const say = talker(metadata)
      const clients = [v03(here.server, 'a'), v03(here.server, 'b'), v03(there.server, 'c')]
      const rounds: Json[][] = []
      for (const round of ['first', 'second']) {
        const tasks: Json[] = []
        for (const client of clients) tasks.push(await say(client, round))
        rounds.push(tasks)
      }
      for (const [at, round] of ['first', 'second'].entries())
        for (const task of rounds[at]!) {
          expect([stateOf(task), answerOf(task)]).toEqual(['completed', `You said: ${round}`])
          expect(turnsOf(task)).toEqual([`user: ${round}`, `agent: You said: ${round}`])
        }
      expect(new Set(rounds.flat().map(({ contextId }) => contextId)).size).toBe(1)
      expect(new Set(rounds.flat().map(({ id }) => id)).size).toBe(6)
      const [ofA, ofB] = rounds[1]!
      const { result: whole } = await clients[0]!.post(clients[0]!.body('tasks/get', { id: ofA.id }), {
        headers: { 'langgraph-a2a-history-scope': 'context' },
      })
      expect(turnsOf(whole)).toHaveLength(4)
      expect((await clients[0]!.get(ofB.id)).error.code).toBe(-32001)
      expect([...here.errors, ...there.errors]).toEqual([])
    })
  })
})

describe('in v0.3 a message with both ids', () => {
  const conversation = async (authenticate?: typeof byToken) => {
    const served = serve({ graph: graph(), asks: asks() }, { authenticate })
    return { ...served, client: (token = '', assistant = 'graph') => v03(served.server, assistant, token) }
  }

  test.each([
    ['neither is known', { contextId: 'there', taskId: 'there:nothing' }],
    ['the task id is of no form of ours', { contextId: 'there', taskId: 'task-1' }],
    ['the task id is too long for one', { contextId: 'there', taskId: 'x'.repeat(10_000) }],
    ['the task id names a context that nobody has', { contextId: 'there', taskId: 'elsewhere:nothing' }],
  ])('begins the context, where %s', async (_, ids) => {
    const { client } = await conversation()
    const { result } = await client().send({ text: 'x', ...ids })
    expect([result.contextId, answerOf(result)]).toEqual(['there', 'You said: x'])
  })

  test('goes on in the context where it is known and the task is not', async () => {
    const { client } = await conversation()
    const { result: one } = await client().send({ text: 'one', contextId: 'c' })
    const { result: two } = await client().send({ text: 'two', contextId: 'c', taskId: 'c:nothing' })
    expect(stateOf(two)).toBe('completed')
    expect([two.contextId, turnsOf(two)]).toEqual(['c', ['user: two', 'agent: You said: two']])
    expect(two.id).not.toBe(one.id)
  })

  test('answers the task that waits, and is told which one waits where it names another', async () => {
    const { client } = await conversation()
    const asked = (await client('', 'asks').send({ text: 'x' })).result
    const { contextId } = asked
    const other = await client('', 'asks').send({ text: 'blue', contextId, taskId: `${contextId}:other` })
    expect(other.error).toMatchObject({ code: -32602, message: expect.stringContaining(asked.id) })
    const { result } = await client('', 'asks').send({ text: 'blue', contextId, taskId: asked.id })
    expect([result.id, answerOf(result)]).toEqual([asked.id, 'It is "blue".'])
  })

  test('is refused where it holds an answer that only the ended task could take', async () => {
    const { client } = await conversation()
    const { result: done } = await client().send({ text: 'x' })
    const parts = [{ kind: 'data', data: { resume: 'blue' } }]
    const { contextId } = done
    const { error } = await client().send({ parts, contextId, taskId: done.id })
    expect(error.code).toBe(-32004)
    expect((await client().send({ parts, contextId, taskId: 'nothing' })).error.code).toBe(-32602)
  })

  test('is refused where its task is of another context of the caller', async () => {
    const { client } = await conversation()
    const { result: one } = await client().send({ text: 'x', contextId: 'one' })
    const { error } = await client().send({ text: 'y', contextId: 'two', taskId: one.id })
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('another context') })
  })

  test('makes one task, however often it is sent', async () => {
    const { client, server } = await conversation()
    const { result: one } = await client().send({ text: 'one' })
    const words = { text: 'two', messageId: 'again', contextId: one.contextId, taskId: one.id }
    const sent = await Promise.all([1, 2, 3].map(() => client().send(words)))
    expect(new Set(sent.map(({ result }) => result.id)).size).toBe(1)
    expect((await client().send(words)).result).toEqual(sent[0]!.result)
    expect((await v1(server, 'graph').list()).result.totalSize).toBe(2)
  })

  test("of another caller has a conversation of its sender's own, as with ids that nobody has", async () => {
    const { client } = await conversation(byToken)
    for (const contextId of [randomUUID(), 'session-42'])
      for (const assistant of ['graph', 'asks']) {
        const { result: hers } = await client('ann', assistant).send({ text: 'my secret', contextId })
        const { result: his } = await client('bob', assistant).send({
          text: 'blue',
          contextId,
          taskId: hers.id,
        })
        expect(his.id).not.toBe(hers.id)
        expect([his.contextId, stateOf(his)]).toEqual([contextId, stateOf(hers)])
        expect(JSON.stringify(his)).not.toContain('secret')
        expect(turnsOf(his)[0]).toBe('user: blue')
        expect((await client('ann', assistant).get(hers.id)).result).toEqual(hers)
        expect((await client('bob', assistant).get(hers.id)).error.code).toBe(-32001)
      }
  })
})

describe('what stays refused', () => {
  test('a task id alone: one that has ended, and one that is not known', async () => {
    const { server } = serve({ graph: graph() })
    for (const client of [v03(server, 'graph'), v1(server, 'graph')]) {
      const { result: done } = await client.send({ text: 'x' })
      expect((await client.send({ text: 'y', taskId: done.id })).error.code).toBe(-32004)
      expect((await client.send({ text: 'y', taskId: 'a:b' })).error.code).toBe(-32001)
    }
  })

  test('in v1.0 both ids, where the task has ended or is not known', async () => {
    const { server } = serve({ graph: graph(), echo: echo() })
    const client = v1(server, 'graph')
    const { result: done } = await client.send({ text: 'x' })
    const ids = { contextId: done.contextId, taskId: done.id }
    expect((await client.send({ text: 'y', ...ids })).error.code).toBe(-32004)
    expect((await v1(server, 'echo').send({ text: 'y', ...ids })).error.code).toBe(-32001)
    expect((await client.send({ text: 'y', contextId: 'c', taskId: 'c:d' })).error.code).toBe(-32001)
  })
})
