import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { A2AClient, Told } from './client.ts'

/** What every client does with the agents of `agents.ts`, and what it must get. */
export const scenarios: Readonly<Record<string, (client: A2AClient) => Promise<void>>> = {
  async 'sends, gets, goes on in the context, and lists'(client) {
    const first = await client.send('Hello')
    expect(first).toMatchObject({ kind: 'task', state: 'completed', text: 'Hello to you.' })
    expect(await client.get(first.id)).toEqual(first)
    const second = await client.send('Hello', { contextId: first.contextId })
    expect(second).toMatchObject({ contextId: first.contextId, text: 'Hello to you.' })
    expect(second.id).not.toBe(first.id)
    if (client.list) expect(await client.list(first.contextId)).toEqual([second.id, first.id])
  },

  async 'sends back both ids of the last answer with every message'(client) {
    const { id, contextId } = await client.send('Hello')
    const again = client.send('Hello', { taskId: id, contextId })
    // What v1.0 has forbidden, the clients of v0.3 do.
    if (client.list) return expect(again).rejects.toThrow()
    const { id: next, ...told } = await again
    expect(told).toMatchObject({ contextId, state: 'completed', text: 'Hello to you.' })
    const [task] = await all(client.stream('Hello', { taskId: next, contextId }))
    expect(new Set([id, next, task!.id]).size).toBe(3)
    expect(task!.contextId).toBe(contextId)
    const unseen = { taskId: `${id}-elsewhere`, contextId: randomUUID() }
    expect(await client.send('Hello', unseen)).toMatchObject({ contextId: unseen.contextId })
  },

  async 'streams an answer in chunks'(client) {
    const [task, ...rest] = await all(client.stream('Slowly'))
    expect(task).toMatchObject({ kind: 'task' })
    expect(['submitted', 'working']).toContain(task!.state)
    const chunks = rest.filter(({ kind }) => kind === 'artifact')
    expect(chunks.length).toBeGreaterThan(1)
    expect(textsOf(chunks)).toBe('Hello to you.')
    expect(rest.at(-1)).toMatchObject({ kind: 'status', state: 'completed' })
    expect(await client.get(task!.id)).toMatchObject({ state: 'completed', text: 'Hello to you.' })
  },

  async 'answers a question by a message to the task'(client) {
    const asked = await client.send('Ask me')
    expect(asked.state).toBe('input-required')
    const { id, contextId } = asked
    const answered = await client.send('yes', { taskId: id, contextId })
    expect(answered).toMatchObject({ id, contextId, state: 'completed' })
    expect(answered.text).toContain('You said yes.')
  },

  async 'answers a question in a stream'(client) {
    const asked = await all(client.stream('Ask me'))
    expect(asked.at(-1)).toMatchObject({ kind: 'status', state: 'input-required' })
    const { id } = asked[0]!
    const answered = await all(client.stream('no', { taskId: id }))
    expect(answered[0]).toMatchObject({ kind: 'task', id })
    expect(textsOf(answered.filter(({ kind }) => kind === 'artifact'))).toContain('You said no.')
    expect(answered.at(-1)).toMatchObject({ id, state: 'completed' })
  },

  async 'does not wait where it must not, and comes back to the stream'(client) {
    const { id, state } = await client.send('Slowly', { blocking: false })
    expect(['submitted', 'working']).toContain(state)
    const [task, ...rest] = await all(client.resubscribe(id))
    expect(task).toMatchObject({ kind: 'task', id })
    expect(rest.at(-1)).toMatchObject({ id, state: 'completed' })
    expect(await client.get(id)).toMatchObject({ state: 'completed', text: 'Hello to you.' })
  },

  async 'leaves a stream in the middle of an artifact, and comes back to the whole of it'(client) {
    let id = ''
    let chunks = 0
    for await (const told of client.stream('Slowly')) {
      id ||= told.id
      if (told.kind === 'artifact' && ++chunks === 3) break
    }
    await all(client.resubscribe(id))
    expect(await client.get(id)).toMatchObject({ state: 'completed', text: 'Hello to you.' })
  },

  async cancels(client) {
    const { id } = await client.send('Slowly', { blocking: false })
    expect(await client.cancel(id)).toMatchObject({ id, state: 'canceled' })
    expect((await client.get(id)).state).toBe('canceled')
    const asked = await client.send('Ask me')
    expect((await client.cancel(asked.id)).state).toBe('canceled')
  },

  async 'is told what is wrong'(client) {
    const { id } = await client.send('Hello')
    await expect(client.get(randomUUID())).rejects.toThrow(/not found|unknown/i)
    await expect(client.cancel(id)).rejects.toThrow()
    await expect(client.send('More', { taskId: id })).rejects.toThrow()
    await expect(all(client.resubscribe(randomUUID()))).rejects.toThrow()
  },

  async 'keeps the places where notifications of a task go'(client) {
    const { id: taskId } = await client.send('Ask me')
    const push = { id: 'mine', url: 'https://example.com/hook', token: 'secret' }
    expect(await client.setPush(taskId, push)).toMatchObject({ id: push.id, url: push.url })
    expect(await client.getPush(taskId, push.id)).toMatchObject({ id: push.id, url: push.url })
    expect((await client.listPush(taskId)).map(({ id }) => id)).toEqual([push.id])
    await client.deletePush(taskId, push.id)
    expect(await client.listPush(taskId)).toEqual([])
  },
}

async function all(events: AsyncIterable<Told>): Promise<Told[]> {
  const told: Told[] = []
  for await (const event of events) told.push(event)
  return told
}

const textsOf = (told: readonly Told[]): string => told.map(({ text }) => text).join('')
