import { StateGraph, StateSchema } from '@langchain/langgraph'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { toExpress } from '../../adapters/express.ts'
import { toFastify } from '../../adapters/fastify.ts'
import { toHono } from '../../adapters/hono.ts'
import { toNext } from '../../adapters/next.ts'
import { serve, toNode } from '../../adapters/node.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import {
  AgentwireError,
  createAgentEngine,
  createAgentServer,
  createThreadsHandler,
  defineAgent,
} from '../../src/index.ts'
import { openStorage } from '../../src/storage/open.ts'

afterEach(() => void vi.unstubAllGlobals())

const agent = defineAgent({ async run() {} })
const builder = new StateGraph(new StateSchema({})).addNode('node', () => ({})).addEdge('__start__', 'node')

function errorOf(action: () => unknown): AgentwireError {
  try {
    action()
  } catch (error) {
    expect(error).toBeInstanceOf(AgentwireError)
    return error as AgentwireError
  }
  throw new Error('Nothing was thrown.')
}

describe.each<[string, (options: never) => unknown]>([
  ['createAgentServer', createAgentServer],
  ['createThreadsHandler', createThreadsHandler],
  ['createAgentEngine', createAgentEngine],
])('%s', (_, create) => {
  test.each([
    ['a graph', builder.compile(), 'object'],
    ['a graph before compile()', builder, 'object'],
    ['an agent of createAgent', { graph: builder.compile(), invoke() {}, stream() {} }, 'object'],
    ['a promise', Promise.resolve(agent), 'object'],
    ['a function', async () => {}, 'function'],
    ['an empty object', {}, 'object'],
    ['null', null, 'object'],
    ['undefined', undefined, 'undefined'],
  ])('says what to do with %s as an agent', (_, mistake, type) => {
    const { code, message } = errorOf(() => create({ agents: { fine: agent, mine: mistake } } as never))
    expect(code).toBe('invalid_argument')
    expect(message).toBe(
      `agents.mine is not an agent (${type}): use langgraph(graph) or defineAgent({ run }).`,
    )
  })

  test.each([[undefined], [{}], [{ agents: undefined }], [{ agents: {} }]])(
    'asks for an agent where it gets %j',
    (options) => {
      expect(errorOf(() => create(options as never)).message).toBe('The server needs at least one agent.')
    },
  )

  test('asks for names where it gets a list of agents', () => {
    const { code, message } = errorOf(() => create({ agents: [agent] } as never))
    expect(code).toBe('invalid_argument')
    expect(message).toMatch(/: agents must be an object, not an array\.$/)
  })

  test('says which Node it needs where a global of it is missing, as on Node 18', () => {
    vi.stubGlobal('crypto', undefined)
    const { code, message } = errorOf(() => create({ agents: { agent } } as never))
    expect([code, message]).toEqual(['not_supported', 'agentwire requires Node 20.20 or newer.'])
  })
})

test.each([undefined, null, {}, 'graph', () => {}, builder, { graph: undefined }, { graph: builder }])(
  'langgraph() says what it takes where it gets %o',
  (mistake) => {
    const { code, message } = errorOf(() => langgraph(mistake as never))
    expect(code).toBe('invalid_agent')
    expect(message).toMatch(
      /^langgraph\(\) takes a compiled graph .* Call compile\(\) on a StateGraph first\.$/,
    )
  },
)

test.each<[string, (mistake: never) => unknown]>([
  ['toNode', toNode],
  ['toExpress', toExpress],
  ['toFastify', toFastify],
  ['toNext', toNext],
  ['serve', (mistake) => serve(mistake, { port: 0 })],
])('%s says what it takes where it gets an agent', async (name, adapt) => {
  const adapted = async () => adapt(agent as never)
  await expect(adapted()).rejects.toThrow(
    `${name} takes a server, such as createAgentServer({ agents }), not this object.`,
  )
})

test('toHono says what it takes where it gets an agent', () => {
  expect(() => toHono(agent as never)).toThrow('toHono takes an agent server.')
})

test('createAgentServer names the entry of faces that is not a face', () => {
  const faces = [() => createAgentServer({ agents: { agent } }), createAgentServer({ agents: { agent } })]
  expect(errorOf(() => createAgentServer({ agents: { agent }, faces: faces as never })).message).toBe(
    'createAgentServer: faces[1] must be a function, such as the one that aiSdk() returns.',
  )
})

test('a principal whose id is not a string is reported, with what an id must be', async () => {
  const reported: unknown[] = []
  const server = createAgentServer({
    agents: { agent },
    authenticate: () => ({ id: 7 }) as never,
    onError: (error) => void reported.push(error),
  })
  expect((await server.fetch(new Request('http://host/threads'))).status).toBe(500)
  expect(reported.map(String)).toEqual(['TypeError: A principal must have an id, a non-empty string.'])
  await server.close()
})

test('a run without an input in an empty thread tells its client why it failed', async () => {
  const server = createAgentServer({ agents: { agent }, onError: () => {} })
  const body = JSON.stringify({ assistant_id: 'agent', inputs: { messages: [] } })
  const headers = { 'content-type': 'application/json' }
  const request = new Request('http://host/runs/wait', { method: 'POST', headers, body })
  expect(await (await server.fetch(request)).json()).toMatchObject({
    __error__: {
      message: 'The thread is empty, and there is no input.',
    },
  })
  await server.close()
})

test.each([undefined, null])('openStorage() says which URLs there are where it gets %s', async (url) => {
  const error = await openStorage(url as never).catch((reason) => reason)
  expect(error).toBeInstanceOf(AgentwireError)
  expect(error.code).toBe('invalid_argument')
  expect(error.message).toMatch(/^The URL of the storage is empty\. Supported: file:… or a path, postgres:/)
})

test('toNext() names the runtime that a route needs where it is the Edge runtime', () => {
  vi.stubGlobal('EdgeRuntime', 'edge-runtime')
  const { code, message } = errorOf(() => toNext(createAgentServer({ agents: { agent } })))
  expect(code).toBe('not_supported')
  expect(message).toContain("put `export const runtime = 'nodejs'` into the route file.")
})

test.each([
  ['POST', '/mcp', undefined],
  ['POST', '/threads/secret/runs/secret/feedback', undefined],
  ['GET', '/ui/secret', undefined],
  ['POST', '/assistants/search?secret', '/agents'],
  ['POST', '/threads/secret/commands', '/agents'],
])(
  '%s %s of another client or base path is told what is served: base path %s',
  async (method, path, basePath) => {
    const server = createAgentServer({ agents: { agent }, authenticate: () => null, threads: { basePath } })
    const response = await server.fetch(new Request(`http://host${path}`, { method }))
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toBe('application/json')
    const places = ['openapi.json', 'threads', 'assistants', 'runs', 'ok', 'info', 'store'].map(
      (place) => `${basePath ?? ''}/${place}`,
    )
    expect(await response.json()).toEqual({
      error: 'not_found',
      message: `No route matches this path. agentwire serves ${places.join(', ')}, /a2a, /.well-known here.`,
    })
    await server.close()
  },
)
