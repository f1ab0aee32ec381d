import { describe, expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { systemAssistantId } from '../../../src/engine/assistants/index.ts'
import { langgraphAuth } from '../../../src/faces/rest/index.ts'
import { defineAgent } from '../../../src/index.ts'
import { approval } from '../../fixtures/graphs.ts'
import { request } from '../../kit/client.ts'
import { type Host, serveAgents } from '../../kit/host.ts'
import { bearer, clientOf, owning } from './users.ts'

const agents = {
  ask: langgraph(approval()),
  echo: defineAgent({
    async run({ message, principal }) {
      await message(`private of ${principal?.id}`)
    },
  }),
}

const serve = () => serveAgents({ agents, ...langgraphAuth(owning()), devtools: true })

/** Calls a method of A2A 0.3. Gives its result, or the code of its error. */
async function a2a(host: Host, name: string, method: string, params: object) {
  const body = { jsonrpc: '2.0', id: 1, method, params }
  const { body: answer } = await request(host.origin, 'POST', '/a2a/echo', body, bearer(name))
  return answer.result ?? answer.error.code
}

const says = (more: object = {}) => ({
  message: {
    kind: 'message',
    role: 'user',
    messageId: crypto.randomUUID(),
    parts: [{ kind: 'text', text: 'hello' }],
    ...more,
  },
  configuration: { blocking: true },
})

const TASK_NOT_FOUND = -32001

describe('A2A under the Auth of LangGraph', () => {
  test('a task is its sender’s: nobody else can read, cancel, continue or watch it', async () => {
    const host = await serve()
    const task = await a2a(host, 'ann', 'message/send', says())
    expect(task.status.state).toBe('completed')
    const { id, contextId } = task
    expect((await a2a(host, 'ann', 'tasks/get', { id })).id).toBe(id)
    for (const method of [
      'tasks/get',
      'tasks/cancel',
      'tasks/resubscribe',
      'tasks/pushNotificationConfig/list',
    ])
      expect([method, await a2a(host, 'bob', method, { id })]).toEqual([method, TASK_NOT_FOUND])
    expect(await a2a(host, 'bob', 'message/send', says({ taskId: id }))).toBe(TASK_NOT_FOUND)
    // The context is another one of the same name.
    const own = await a2a(host, 'bob', 'message/send', says({ contextId }))
    expect([own.status.state, own.contextId]).toEqual(['completed', contextId])
    expect(JSON.stringify(own)).not.toContain('private of ann')
    const again = await a2a(host, 'bob', 'message/send', says({ contextId }))
    expect((await a2a(host, 'bob', 'tasks/get', { id: again.id })).contextId).toBe(contextId)
  })

  test('contexts that clients name are each user’s own', async () => {
    const host = await serve()
    for (const name of ['ann', 'bob', 'ann', 'bob'])
      expect((await a2a(host, name, 'message/send', says({ contextId: 'inbox' }))).status.state).toBe(
        'completed',
      )
    for (const name of ['ann', 'bob']) {
      const { body } = await request(host.origin, 'POST', '/threads/search', {}, bearer(name))
      expect(body).toHaveLength(1)
      expect(body[0].metadata).toMatchObject({ owner: name, a2a_context_id: 'inbox' })
      expect(JSON.stringify(body[0].values)).not.toContain(`private of ${name === 'ann' ? 'bob' : 'ann'}`)
    }
  })

  test('lists have and count the tasks of who asks, on all pages', async () => {
    const host = await serve()
    for (const name of ['ann', 'bob', 'ann', 'bob', 'ann']) await a2a(host, name, 'message/send', says())
    const list = async (name: string) => {
      const found: string[] = []
      let pageToken: string | undefined
      do {
        const body = {
          jsonrpc: '2.0',
          id: 1,
          method: 'ListTasks',
          params: { pageSize: 2, ...(pageToken && { pageToken }) },
        }
        const headers = { ...bearer(name), 'a2a-version': '1.0' }
        const { result } = (await request(host.origin, 'POST', '/a2a/echo', body, headers)).body
        found.push(...result.tasks.map(({ id }: { id: string }) => id))
        expect(result.totalSize).toBe(name === 'ann' ? 3 : name === 'bob' ? 2 : 0)
        pageToken = result.nextPageToken
      } while (pageToken)
      return new Set(found).size
    }
    expect([await list('ann'), await list('bob'), await list('solo')]).toEqual([3, 2, 0])
  })
})

test('an assistant that somebody made is reached over A2A by its UUID, by nobody else', async () => {
  const host = await serve()
  const made = { graph_id: 'echo', metadata: { topic: 'x' } }
  const { assistant_id } = (await request(host.origin, 'POST', '/assistants', made, bearer('ann'))).body
  const call = (name: string, method: string, params: object, id: string = assistant_id) =>
    request(host.origin, 'POST', `/a2a/${id}`, { jsonrpc: '2.0', id: 1, method, params }, bearer(name))
  const task = (await call('ann', 'message/send', says())).body.result
  expect(task.status.state).toBe('completed')
  expect((await call('ann', 'tasks/get', { id: task.id })).body.result.id).toBe(task.id)
  const { body: threads } = await request(host.origin, 'POST', '/threads/search', {}, bearer('ann'))
  expect(threads).toMatchObject([{ metadata: { owner: 'ann' } }])
  const nowhere = crypto.randomUUID()
  for (const method of ['message/send', 'message/stream']) {
    const hidden = await call('bob', method, says())
    expect([method, hidden.status]).toEqual([method, 404])
    expect(hidden.body).toEqual((await call('bob', method, says(), nowhere)).body)
  }
  expect((await request(host.origin, 'POST', '/threads/search', {}, bearer('bob'))).body).toEqual([])
})

test('a filter hides the assistants of the system, unless it lets them through, and their graphs run all the same', async () => {
  const seen = async (auth: ReturnType<typeof owning>) => {
    const host = await serveAgents({ agents, ...langgraphAuth(auth) })
    const { assistants, runs } = clientOf(host.origin, 'ann')
    const { assistant_id } = await assistants.create({ graphId: 'echo', name: 'mine' })
    const system = await systemAssistantId('echo')
    for (const named of ['echo', system, assistant_id])
      expect(await runs.wait(null, named, { input: {} })).toMatchObject({
        messages: [{ content: 'private of ann' }],
      })
    const answers = [
      assistants.get('echo'),
      assistants.get(system),
      assistants.getGraph('echo'),
      assistants.getVersions(system),
    ]
    const found = await Promise.all(
      answers.map((answer) => answer.then(() => 200).catch(({ status }) => status)),
    )
    const names = (await assistants.search()).map(({ name }) => name)
    expect(await assistants.count()).toBe(names.length)
    return { names: names.sort(), found: [...new Set(found)] }
  }
  expect(await seen(owning())).toEqual({ names: ['mine'], found: [404] })
  // The types of the SDK do not know what its servers take.
  const either = { $or: [{ created_by: 'system' }, { created_by: 'ann' }] } as never
  const shown = owning().on('assistants', () => either)
  shown.on('assistants:create', ({ value, user }) => {
    // A run finds what both filters let through: its own, and that of assistants.
    value.metadata = { created_by: user.identity, owner: user.identity }
  })
  expect(await seen(shown)).toEqual({ names: ['ask', 'echo', 'mine'], found: [200] })
})

test('the devtools show the threads of who asks, and no others', async () => {
  const host = await serve()
  const thread = host.thread('anns', bearer('ann'))
  await thread.start({ notes: ['private'] }, { assistant_id: 'ask' })
  await thread.transcript()
  const get = (name: string, path: string) =>
    request(host.origin, 'GET', `/devtools/api${path}`, undefined, bearer(name))
  expect(JSON.stringify((await get('ann', '/threads')).body)).toContain('anns')
  for (const path of ['/threads', '/server', '/work'])
    expect(JSON.stringify((await get('bob', path)).body)).not.toMatch(/anns|private/)
  for (const path of ['/threads/anns', '/threads/anns/checkpoints'])
    expect([path, (await get('bob', path)).status]).toEqual([path, 404])
})

test('crons are their maker’s, and their runs are as well', async () => {
  const host = await serve()
  const body = { assistant_id: 'echo', schedule: '0 0 1 1 *', input: {}, metadata: { topic: 'x' } }
  const made = (await request(host.origin, 'POST', '/runs/crons', body, bearer('ann'))).body
  expect([made.metadata, made.user_id]).toEqual([{ topic: 'x', owner: 'ann' }, 'ann'])
  const search = async (name: string) =>
    (await request(host.origin, 'POST', '/runs/crons/search', {}, bearer(name))).body.length
  const count = async (name: string) =>
    (await request(host.origin, 'POST', '/runs/crons/count', {}, bearer(name))).body
  expect([await search('ann'), await count('ann')]).toEqual([1, 1])
  expect([await search('bob'), await count('bob')]).toEqual([0, 0])
  const path = `/runs/crons/${made.cron_id}`
  for (const [method, sent] of [
    ['PATCH', { enabled: false }],
    ['DELETE', undefined],
  ] as const)
    expect((await request(host.origin, method, path, sent, bearer('bob'))).status).toBe(404)
  const changed = await request(host.origin, 'PATCH', path, { metadata: { owner: 'bob' } }, bearer('ann'))
  expect(changed.body.metadata).toEqual({ topic: 'x', owner: 'ann' })
  // A cron of a thread needs that thread.
  const thread = host.thread('anns', bearer('ann'))
  await thread.start({ notes: ['private'] }, { assistant_id: 'ask' })
  await thread.transcript()
  expect((await request(host.origin, 'POST', '/threads/anns/runs/crons', body, bearer('bob'))).status).toBe(
    404,
  )
})
