import { Annotation, StateGraph } from '@langchain/langgraph'
import { RemoteGraph } from '@langchain/langgraph/remote'
import { Client } from '@langchain/langgraph-sdk'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { type Authenticate, type Authorize, defineAgent } from '../../../src/index.ts'
import { request } from '../../kit/client.ts'
import { serveAgents } from '../../kit/host.ts'
import { puppet } from '../../kit/puppet.ts'

const AGENT_ID = 'fe096781-5601-53d2-b2f6-0d3403f7e9ca'

const authenticate: Authenticate = ({ headers }) => ({ id: headers.get('x-user') ?? 'ann' })

const typed = () => {
  const inner = new StateGraph(z.object({ text: z.string() }))
    .addNode('inside', () => ({ text: 'in' }))
    .addNode('after', () => ({}))
    .addEdge('__start__', 'inside')
    .addEdge('inside', 'after')
    .addEdge('after', '__end__')
    .compile()
  return new StateGraph(z.object({ text: z.string() }), z.object({ model: z.string() }))
    .addNode('child', inner)
    .addEdge('__start__', 'child')
    .addEdge('child', '__end__')
    .compile()
}

const untyped = () =>
  new StateGraph(Annotation.Root({ text: Annotation<string> }))
    .addNode('only', () => ({ text: 'x' }))
    .addEdge('__start__', 'only')
    .addEdge('only', '__end__')
    .compile()

async function serve(authorize?: Authorize) {
  const actor = puppet()
  const host = await serveAgents({
    agents: {
      agent: langgraph(typed()),
      untyped: langgraph(untyped()),
      step: defineAgent({
        name: 'stepper',
        input: z.object({ n: z.number() }),
        run: () => Promise.resolve(),
      }),
      actor: actor.agent,
    },
    aliases: { old: 'agent' },
    authenticate,
    authorize,
  })
  const clientOf = (user: string) =>
    new Client({
      apiUrl: host.origin,
      apiKey: null,
      callerOptions: { maxRetries: 0 },
      defaultHeaders: { 'x-user': user },
    })
  const { assistants } = clientOf('ann')
  return { host, actor, assistants, bobs: clientOf('bob').assistants, clientOf }
}

describe('assistants of LangGraph’s SDK', () => {
  test('every graph has one, found by its name and its id', async () => {
    const { assistants } = await serve()
    for (const name of ['agent', 'old', AGENT_ID])
      expect(await assistants.get(name)).toMatchObject({
        assistant_id: AGENT_ID,
        graph_id: 'agent',
        name: 'agent',
        version: 1,
        description: null,
        metadata: { created_by: 'system' },
      })
    await expect(assistants.get(crypto.randomUUID())).rejects.toThrow('Assistant not found')
  })

  test('are made, changed in versions, put back and deleted', async () => {
    const { assistants } = await serve()
    const made = await assistants.create({
      graphId: 'agent',
      name: 'Mine',
      metadata: { team: 'a' },
      config: { configurable: { model: 'x' } },
    })
    const assistantId = made.assistant_id
    expect(made).toMatchObject({
      graph_id: 'agent',
      version: 1,
      context: {},
      name: 'Mine',
      description: null,
    })
    await expect(assistants.create({ graphId: 'agent', assistantId })).rejects.toThrow(
      /HTTP 409.*Assistant already exists/s,
    )
    expect(await assistants.create({ graphId: 'agent', assistantId, ifExists: 'do_nothing' })).toEqual(made)
    const changed = await assistants.update(assistantId, { metadata: { more: 1 }, context: { user: 'u' } })
    expect(changed).toMatchObject({
      version: 2,
      metadata: { team: 'a', more: 1 },
      config: { configurable: { model: 'x' } },
      context: { user: 'u' },
    })
    expect(await assistants.setLatest(assistantId, 1)).toMatchObject({ version: 1, context: {} })
    expect(await assistants.update(assistantId, {})).toMatchObject({ version: 3, metadata: { team: 'a' } })
    const versions = await assistants.getVersions(assistantId)
    expect(versions.map(({ version }) => version)).toEqual([3, 2, 1])
    expect(await assistants.getVersions(assistantId, { metadata: { more: 1 } })).toMatchObject([
      { version: 2 },
    ])
    await expect(assistants.setLatest(assistantId, 9)).rejects.toThrow('Assistant version not found')
    await assistants.delete(assistantId)
    await expect(assistants.get(assistantId)).rejects.toThrow('Assistant not found')
    await expect(assistants.getVersions(assistantId)).rejects.toThrow('Assistant not found')
    await expect(assistants.delete('agent')).rejects.toThrow('A system assistant')
  })

  test('are searched and counted by graph, name and metadata, page by page', async () => {
    const { host, assistants } = await serve()
    for (let i = 0; i < 5; i++)
      await assistants.create({
        graphId: 'agent',
        name: `Number ${i}`,
        metadata: { even: i % 2 === 0, tags: [i] },
      })
    const names = async (query: object) => (await assistants.search(query)).map(({ name }) => name)
    expect(await names({ graphId: 'agent', sortBy: 'name', sortOrder: 'asc' })).toEqual([
      ...[0, 1, 2, 3, 4].map((i) => `Number ${i}`),
      'agent',
    ])
    expect(await names({ name: 'NUMBER 3' })).toEqual(['Number 3'])
    expect(await names({ metadata: { even: false }, sortBy: 'name' })).toEqual(['Number 3', 'Number 1'])
    expect(await names({ metadata: { tags: [2] } })).toEqual(['Number 2'])
    expect(await names({ metadata: { created_by: 'system' }, graphId: 'agent' })).toEqual(['agent'])
    expect(await names({ graphId: 'agent', limit: 2, offset: 1 })).toEqual(['Number 3', 'Number 2'])
    expect(await assistants.search({ graphId: 'untyped', select: ['graph_id', 'version'] })).toEqual([
      { graph_id: 'untyped', version: 1 },
    ])
    expect(await assistants.count({ graphId: 'agent' })).toBe(6)
    expect(await assistants.count({ metadata: { even: true } })).toBe(3)
    const page = await request(host.origin, 'POST', '/assistants/search', { limit: 4 })
    expect(page.headers.get('x-pagination-total')).toBe('9')
    expect(page.headers.get('x-pagination-next')).toBe('4')
    const last = await request(host.origin, 'POST', '/assistants/search', { limit: 4, offset: 8 })
    expect(last.body).toHaveLength(1)
    expect(last.headers.get('x-pagination-next')).toBeNull()
  })

  test('say how their graph looks and what it takes', async () => {
    const { assistants } = await serve()
    const ids = async (id: string, xray?: boolean | number) =>
      (await assistants.getGraph(id, { xray })).nodes.map((node) => node.id)
    expect(await ids('agent')).toEqual(['__start__', 'child', '__end__'])
    expect(await ids(AGENT_ID, true)).toContain('child:inside')
    expect(await ids('agent', 1)).toContain('child:inside')
    expect(await ids('step')).toEqual(['__start__', 'stepper', '__end__'])
    expect(await ids('actor')).toHaveLength(3)
    const schemas = await assistants.getSchemas('agent')
    expect(schemas).toMatchObject({
      graph_id: 'agent',
      input_schema: { properties: { text: { type: 'string' } } },
      output_schema: { properties: { text: { type: 'string' } } },
      state_schema: { properties: { text: { type: 'string' } } },
      config_schema: { properties: { model: { type: 'string' } } },
      context_schema: { properties: { model: { type: 'string' } } },
    })
    expect(await assistants.getSchemas('untyped')).toEqual({
      graph_id: 'untyped',
      input_schema: null,
      output_schema: null,
      state_schema: null,
      config_schema: null,
      context_schema: null,
    })
    expect(await assistants.getSchemas('step')).toMatchObject({
      input_schema: { properties: { n: { type: 'number' } } },
      state_schema: null,
    })
    expect(await assistants.getSubgraphs('agent')).toMatchObject({
      child: { state: { properties: { text: { type: 'string' } } } },
    })
    expect(await assistants.getSubgraphs('agent', { namespace: 'child', recurse: true })).toHaveProperty(
      'child',
    )
    expect(await assistants.getSubgraphs('untyped', { recurse: true })).toEqual({})
  })

  test('RemoteGraph draws the graph', async () => {
    const { host } = await serve()
    const graph = new RemoteGraph({ graphId: 'agent', url: host.origin })
    const drawn = await graph.getGraphAsync({ xray: true })
    expect(Object.keys(drawn.nodes)).toContain('child:inside')
    const names: string[] = []
    for await (const [name] of graph.getSubgraphsAsync()) names.push(name)
    expect(names).toEqual(['child'])
  })
})

describe('runs of an assistant', () => {
  const settings = {
    config: { tags: ['t'], configurable: { model: 'made', style: 'made' } },
    context: { user: 'made' },
    metadata: { team: 'a' },
  }

  test('take its settings over the protocol, and those of the run win', async () => {
    const { host, actor, assistants } = await serve()
    const { assistant_id } = await assistants.create({ graphId: 'actor', ...settings })
    const thread = host.thread('t')
    await thread.start({}, { assistant_id, config: { configurable: { model: 'run' } }, metadata: { run: 1 } })
    expect(actor.tasks[0]).toMatchObject({
      assistantId: 'actor',
      config: {
        tags: ['t'],
        configurable: { model: 'run', style: 'made' },
        context: { user: 'made' },
        metadata: { team: 'a', run: 1 },
      },
    })
    actor.finish()
    await thread.idle()
    expect((await thread.get('')).body.metadata).toMatchObject({ graph_id: 'actor', assistant_id })
    // Another assistant of the same graph may run on the thread, and one of another graph may not.
    await thread.start({}, { assistant_id: 'actor' })
    expect(actor.tasks[1]?.config.tags).toBeUndefined()
    actor.finish()
    await thread.idle()
    expect(await thread.refused('run.start', { input: {}, assistant_id: AGENT_ID })).toBe('invalid_argument')
  })

  test('take those of the thread’s assistant where they name none', async () => {
    const { host, actor, assistants } = await serve()
    const { assistant_id } = await assistants.create({ graphId: 'actor', ...settings })
    await request(host.origin, 'POST', '/threads', { thread_id: 't', metadata: { assistant_id } })
    await host.thread('t').start({}, { assistant_id: '_' })
    expect(actor.tasks[0]).toMatchObject({ assistantId: 'actor', config: { tags: ['t'] } })
    actor.finish()
    await host.thread('t').idle()
  })

  test('need the permission for its graph', async () => {
    const { host, assistants } = await serve((_, action, { assistantId }) =>
      action === 'runs:create' ? assistantId !== 'actor' : true,
    )
    const { assistant_id } = await assistants.create({ graphId: 'actor' })
    expect(await host.thread('t').refused('run.start', { input: {}, assistant_id })).toBe('permission_denied')
  })

  test('are deleted with their threads where that is asked', async () => {
    const { host, assistants, clientOf } = await serve()
    const { assistant_id } = await assistants.create({ graphId: 'actor' })
    const { threads } = clientOf('ann')
    const bound = await threads.create({ metadata: { assistant_id } })
    const other = await threads.create({ metadata: { assistant_id: 'actor' } })
    const deleted = await request(
      host.origin,
      'DELETE',
      `/assistants/${assistant_id}?delete_threads=true`,
      undefined,
    )
    expect(deleted).toMatchObject({ status: 200, body: [assistant_id] })
    await expect(threads.get(bound.thread_id)).rejects.toThrow('HTTP 404')
    expect(await threads.get(other.thread_id)).toBeTruthy()
  })
})

/** One request for every route of one assistant, by somebody who knows its id. */
const OF_ONE: Readonly<Record<string, object | undefined>> = {
  'GET ': undefined,
  'PATCH ': {},
  'DELETE ': undefined,
  'GET /graph': undefined,
  'GET /schemas': undefined,
  'GET /subgraphs': undefined,
  'GET /subgraphs/child': undefined,
  'POST /versions': {},
  'POST /latest': { version: 1 },
}

describe('ownership', () => {
  test('another owner’s assistant is not found by any route, and in no list', async () => {
    const { host, assistants, bobs } = await serve()
    const { assistant_id } = await assistants.create({ graphId: 'agent', name: 'secret' })
    const routes = (await host.server.routes()).map(([method, pattern]) => `${method} ${pattern}`)
    expect(routes.filter((route) => route.includes('/assistants/:assistant_id')).sort()).toEqual(
      Object.keys(OF_ONE)
        .map((route) => route.replace(' ', ' /assistants/:assistant_id').replace('/child', '/:namespace'))
        .sort(),
    )
    for (const [route, body] of Object.entries(OF_ONE)) {
      const [method, path] = route.split(' ') as [string, string]
      const url = `/assistants/${assistant_id}${path}`
      expect(await request(host.origin, method, url, body, { 'x-user': 'bob' })).toMatchObject({
        status: 404,
        body: { message: 'Assistant not found' },
      })
    }
    expect((await bobs.search({ graphId: 'agent' })).map(({ name }) => name)).toEqual(['agent'])
    expect(await bobs.count({ graphId: 'agent' })).toBe(1)
    expect(await bobs.create({ graphId: 'agent', assistantId: assistant_id })).toMatchObject({ version: 1 })
    expect(await assistants.get(assistant_id)).toMatchObject({ name: 'secret' })
  })

  test('every route asks authorize, and a refusal changes nothing', async () => {
    const asked: string[] = []
    let refuses = false
    const { host, assistants } = await serve((_, action, { assistantId }) => {
      asked.push(`${action} ${assistantId ?? ''}`)
      return !refuses
    })
    const { assistant_id } = await assistants.create({ graphId: 'old' })
    expect(asked).toEqual(['assistants:create agent'])
    refuses = true
    const paths = Object.entries(OF_ONE).map(([route, body]) => [route, body] as const)
    for (const [route, body] of paths) {
      const [method, path] = route.split(' ') as [string, string]
      const answer = await request(host.origin, method, `/assistants/${assistant_id}${path}`, body)
      expect(answer.status).toBe(403)
    }
    for (const path of ['/assistants', '/assistants/search', '/assistants/count'])
      expect((await request(host.origin, 'POST', path, { graph_id: 'agent' })).status).toBe(403)
    refuses = false
    expect(await assistants.getVersions(assistant_id)).toHaveLength(1)
    await assistants.get(AGENT_ID)
    expect(asked.at(-1)).toBe('assistants:read agent')
  })
})

test('disable_assistants leaves the routes out', async () => {
  const host = await serveAgents({ agents: { a: puppet().agent }, http: { disable_assistants: true } })
  expect((await request(host.origin, 'POST', '/assistants/search', {})).status).toBe(404)
})

test('no body breaks a route: each is answered, or refused by its field', { timeout: 240_000 }, async () => {
  const { host, assistants } = await serve()
  const { assistant_id } = await assistants.create({ graphId: 'agent' })
  const paths = ['', '/search', '/count', `/${assistant_id}/versions`, `/${assistant_id}/latest`]
  const keys = [
    'graph_id',
    'assistant_id',
    'config',
    'context',
    'metadata',
    'name',
    'limit',
    'offset',
    'select',
  ]
  const field = fc.constantFrom(...keys, 'sort_by', 'version', 'description', 'if_exists', '__proto__')
  const body = fc.oneof(
    fc.dictionary(field, fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant('agent'))),
    fc.jsonValue({ maxDepth: 1 }),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), body, async (path, value) => {
      const answer = await request(host.origin, 'POST', `/assistants${path}`, JSON.stringify(value))
      expect([200, 400, 404, 409]).toContain(answer.status)
      if (answer.status !== 200) expect(answer.body).toMatchObject({ message: expect.any(String) })
    }),
    { numRuns: 200 },
  )
})
