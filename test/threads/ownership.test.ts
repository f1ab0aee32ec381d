import { describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { ASSISTANT_ROUTES } from '../../src/faces/rest/assistants/routes.ts'
import { langgraphAuth } from '../../src/faces/rest/index.ts'
import { RUN_ROUTES } from '../../src/faces/rest/runs/routes.ts'
import { STORE_ROUTES } from '../../src/faces/rest/store/routes.ts'
import { THREAD_ROUTES } from '../../src/faces/rest/threads/routes.ts'
import type { Authenticate, Authorize, Principal } from '../../src/index.ts'
import { approval } from '../fixtures/graphs.ts'
import { request } from '../kit/client.ts'
import { dataOf, isTerminal, type Json, rootStates } from '../kit/events.ts'
import { type Host, serveAgents } from '../kit/host.ts'
import { puppet } from '../kit/puppet.ts'
import { owning } from '../platform/auth/users.ts'

const PEOPLE: Readonly<Record<string, Principal>> = {
  ann: { id: 'ann', tenant: 'acme', role: 'boss' },
  art: { id: 'art', tenant: 'acme' },
  bob: { id: 'bob', tenant: 'other' },
  solo: { id: 'solo' },
}

const authenticate: Authenticate = (incoming) =>
  PEOPLE[incoming.headers.get('authorization')?.replace('Bearer ', '') ?? ''] ?? null

const as = (name: string) => ({ authorization: `Bearer ${name}` })

const serve = (authorize?: Authorize) =>
  serveAgents({ agents: { ask: langgraph(approval()), busy: puppet().agent }, authenticate, authorize })

/** A thread of Ann's that waits at an interrupt. */
async function annsThread(host: Host) {
  const thread = host.thread('secret', as('ann'))
  const run = await thread.start({ notes: ['private'] }, { assistant_id: 'ask' })
  const [asked] = dataOf(await thread.transcript(), 'input.requested')
  const { checkpoint } = (await thread.get('/state')).body
  return {
    thread,
    run,
    interrupt: asked.interrupt_id as string,
    checkpoint: checkpoint.checkpoint_id as string,
  }
}

interface Known {
  readonly run: string
  readonly interrupt: string
  readonly checkpoint: string
}

/** One request for every route, as a caller sends it who knows all ids. The route of commands has many, which follow. */
const REQUESTS: Readonly<Record<string, (known: Known) => { path?: string; body?: unknown }>> = {
  'POST /threads/:thread_id/stream': () => ({ body: { channels: ['values', 'lifecycle'] } }),
  'POST /threads/:thread_id/stream/events': () => ({ body: { channels: ['values', 'lifecycle'], since: 0 } }),
  'GET /threads/:thread_id/state': () => ({}),
  'POST /threads/:thread_id/state': () => ({ body: { values: { notes: ['mine'] } } }),
  'POST /threads/:thread_id/state/checkpoint': ({ checkpoint }) => ({
    body: { checkpoint: { checkpoint_id: checkpoint } },
  }),
  'GET /threads/:thread_id/state/:checkpoint_id': ({ checkpoint }) => ({
    path: `/threads/:thread_id/state/${checkpoint}`,
  }),
  'POST /threads/:thread_id/history': () => ({ body: {} }),
  'GET /threads/:thread_id/history': () => ({}),
  'POST /threads/:thread_id/runs/:run_id/cancel': ({ run }) => ({
    path: `/threads/:thread_id/runs/${run}/cancel`,
  }),
  'PATCH /threads/:thread_id/state': () => ({ body: { metadata: { mine: true } } }),
  'POST /threads/:thread_id/copy': () => ({}),
  'POST /threads/prune': () => ({ body: { thread_ids: [':thread_id'] } }),
  'GET /threads': () => ({}),
  'POST /threads': () => ({ body: { thread_id: ':thread_id', if_exists: 'do_nothing' } }),
  'POST /threads/search': () => ({ body: { ids: [':thread_id'] } }),
  'POST /threads/count': () => ({ body: {} }),
  'GET /threads/:thread_id': () => ({}),
  'PATCH /threads/:thread_id': () => ({ body: { metadata: { mine: true } } }),
  'DELETE /threads/:thread_id': () => ({}),
}

const COMMANDS: Readonly<Record<string, (known: Known) => unknown>> = {
  'run.start': () => ({ assistant_id: 'ask', input: 'mine' }),
  'run.start from a checkpoint': ({ checkpoint }) => ({
    assistant_id: 'ask',
    input: { notes: ['mine'] },
    config: { configurable: { checkpoint_id: checkpoint } },
  }),
  'input.respond': ({ interrupt }) => ({ interrupt_id: interrupt, response: 'mine' }),
  'input.inject': () => ({ message: { role: 'user', content: 'mine' } }),
  'state.get': () => ({ namespace: [] }),
  'state.listCheckpoints': () => ({}),
  'state.fork': ({ checkpoint }) => ({ checkpoint_id: checkpoint }),
  'agent.getTree': ({ run }) => ({ run_id: run }),
}

const COMMAND_ROUTE = 'POST /threads/:thread_id/commands'
/** Their rules are in the tests of A2A. The cards are public. */
const A2A_ROUTES = [
  'POST /a2a/:assistant_id',
  'GET /a2a/:assistant_id',
  'GET /a2a/:assistant_id/.well-known/agent-card.json',
  'GET /.well-known/agent-card.json',
]
/** Theirs are in the tests of the platform, and those of what it serves to everybody need none. */
const PLATFORM_ROUTES = [
  'GET /ok',
  'GET /info',
  'GET /openapi.json',
  'POST /runs/crons',
  'POST /threads/:thread_id/runs/crons',
  'PATCH /runs/crons/:cron_id',
  'DELETE /runs/crons/:cron_id',
  'POST /runs/crons/search',
  'POST /runs/crons/count',
  ...[...RUN_ROUTES, ...ASSISTANT_ROUTES, ...STORE_ROUTES, ...THREAD_ROUTES].map(
    ({ method, path }) => `${method} ${path}`,
  ),
]
/** Their rules are in the tests of web sockets. */
const SOCKET_ROUTES = ['GET /threads/:thread_id/stream', 'GET /threads/:thread_id/stream/events']
const STREAMS = /\/stream/
/** The routes that create a missing thread, so that an unknown thread and another owner's get different answers. */
const MAKES_THREADS = new Set(['POST /threads/:thread_id/state', 'POST /threads'])

test('every route is in the tables', async () => {
  const host = await serve()
  const routes = (await host.server.routes()).map(([method, pattern]) => `${method} ${pattern}`)
  const others = [COMMAND_ROUTE, ...A2A_ROUTES, ...PLATFORM_ROUTES, ...SOCKET_ROUTES]
  expect(routes.sort()).toEqual([...Object.keys(REQUESTS), ...others].sort())
})

/** Sends the request of a route for a thread. Gives the answer without the thread's id. */
async function ask(
  host: Host,
  route: string,
  known: Known,
  threadId: string,
  headers: Record<string, string>,
) {
  const [method = '', pattern = ''] = route.split(' ')
  const { path = pattern, body } = REQUESTS[route]!(known)
  const named = (text: string) => text.replaceAll(':thread_id', threadId)
  const answer = await request(host.origin, method, named(path), body && named(JSON.stringify(body)), headers)
  const text = JSON.stringify(answer.body) ?? ''
  return { status: answer.status, text: text.replaceAll(threadId, 'ID') }
}

describe('a caller who is not signed in', () => {
  test('gets 401 from every route, and nothing changes', async () => {
    const host = await serve()
    const { thread, ...known } = await annsThread(host)
    const before = [(await thread.get('')).body, (await thread.get('/state')).body]
    for (const headers of [{}, as('mallory')] as Record<string, string>[]) {
      for (const route of Object.keys(REQUESTS))
        expect([route, await ask(host, route, known, thread.id, headers)]).toMatchObject([
          route,
          { status: 401 },
        ])
      const path = `/threads/${thread.id}/commands`
      const body = { id: 1, method: 'run.start', params: { input: 'mine' } }
      expect((await request(host.origin, 'POST', path, body, headers)).status).toBe(401)
    }
    expect([(await thread.get('')).body, (await thread.get('/state')).body]).toEqual(before)
  })
})

/** Two ways in which a thread is somebody else's: by its owner, and by the filter of an `Auth` of LangGraph. */
const OWNERSHIPS = [
  { by: 'its owner', serve },
  {
    by: 'the filter of an Auth',
    serve: () =>
      serveAgents({
        agents: { ask: langgraph(approval()), busy: puppet().agent },
        ...langgraphAuth(owning()),
      }),
  },
]

describe.each(OWNERSHIPS)('the thread of another looks unknown, by $by', ({ serve }) => {
  for (const stranger of ['bob', 'solo']) {
    for (const route of Object.keys(REQUESTS).filter((name) => !STREAMS.test(name))) {
      test(`to ${stranger}: ${route}`, async () => {
        const host = await serve()
        const { thread, ...known } = await annsThread(host)
        const before = [(await thread.get('')).body, (await thread.get('/state')).body]
        const theirs = await ask(host, route, known, thread.id, as(stranger))
        if (MAKES_THREADS.has(route)) {
          expect([404, 409]).toContain(theirs.status)
          expect(theirs.text).not.toContain('private')
        } else {
          expect(theirs).toEqual(await ask(host, route, known, 'unknown', as(stranger)))
        }
        expect([(await thread.get('')).body, (await thread.get('/state')).body]).toEqual(before)
      })
    }

    for (const [name, params] of Object.entries(COMMANDS)) {
      test(`to ${stranger}: ${name}`, async () => {
        const host = await serve()
        const { thread, ...known } = await annsThread(host)
        const before = [(await thread.get('')).body, (await thread.get('/state')).body]
        const [method = ''] = name.split(' ')
        const theirs = host.thread(thread.id, as(stranger))
        expect(await theirs.refused(method, params(known))).toBe('no_such_run')
        expect([(await thread.get('')).body, (await thread.get('/state')).body]).toEqual(before)
      })
    }

    test(`to ${stranger}: streams stay silent whatever happens to the thread`, async () => {
      const host = await serve()
      const { thread, interrupt } = await annsThread(host)
      const unknown = host.thread('later', as(stranger))
      const streams = [
        await host.thread(thread.id, as(stranger)).stream(),
        await host.thread(thread.id, as(stranger)).stream({ since: 0 }),
        await unknown.stream(),
      ]
      await thread.ok('input.respond', { interrupt_id: interrupt, response: 'yes' })
      await thread.idle()
      expect((await thread.request('DELETE', '')).status).toBe(204)
      // The id is free again, so the stranger may take it, and the same streams serve the new thread.
      for (const own of [host.thread(thread.id, as(stranger)), unknown])
        await own.start({ notes: ['own'] }, { assistant_id: 'ask' })
      for (const stream of streams) {
        const events = await stream.until((seen) => seen.some(isTerminal))
        expect(rootStates(events)).toEqual(['running', 'interrupted'])
        expect(JSON.stringify(events)).not.toContain('private')
      }
    })
  }
})

describe('a tenant', () => {
  test('shares its threads in lists, records, state, commands and streams', async () => {
    const host = await serve()
    const { thread, interrupt } = await annsThread(host)
    const arts = host.thread(thread.id, as('art'))
    expect((await arts.get('')).body).toEqual((await thread.get('')).body)
    const list = (name: string) => request(host.origin, 'GET', '/threads', undefined, as(name))
    expect((await list('art')).body.map(({ id }: Json) => id)).toEqual([thread.id])
    expect((await list('bob')).body).toEqual([])
    const stream = await arts.stream()
    await arts.ok('input.respond', { interrupt_id: interrupt, response: 'by art' })
    await stream.until((events) => events.filter(isTerminal).length === 2)
    expect((await thread.get('/state')).body.values.notes).toEqual(['private', 'answer: by art', 'after'])
    expect((await arts.request('DELETE', '')).status).toBe(204)
    expect((await thread.get('')).status).toBe(404)
  })

  test('the agent learns the principal from authenticate, whatever the client claims', async () => {
    const actor = puppet()
    const host = await serveAgents({ agents: { a: actor.agent }, authenticate })
    await host.thread('t', as('ann')).start(
      {},
      {
        config: {
          configurable: {
            langgraph_auth_user: { id: 'root' },
            langgraph_auth_user_id: 'root',
            langgraph_auth_permissions: ['all'],
          },
        },
      },
    )
    expect(actor.tasks[0]!.config.configurable).toEqual({
      langgraph_auth_user: PEOPLE.ann,
      langgraph_auth_user_id: 'ann',
    })
    expect(JSON.stringify((await host.thread('t', as('ann')).get('')).body)).not.toContain('boss')
  })
})

describe('authorize', () => {
  const ACTIONS: Readonly<Record<string, string>> = {
    'POST /threads/:thread_id/stream': 'threads:stream',
    'POST /threads/:thread_id/stream/events': 'threads:stream',
    'GET /threads/:thread_id/state': 'threads:read',
    'POST /threads/:thread_id/state': 'threads:update',
    'POST /threads/:thread_id/state/checkpoint': 'threads:read',
    'GET /threads/:thread_id/state/:checkpoint_id': 'threads:read',
    'POST /threads/:thread_id/history': 'threads:read',
    'GET /threads/:thread_id/history': 'threads:read',
    'POST /threads/:thread_id/runs/:run_id/cancel': 'runs:cancel',
    'GET /threads': 'threads:list',
    'POST /threads': 'threads:create',
    'POST /threads/search': 'threads:list',
    'POST /threads/count': 'threads:list',
    'GET /threads/:thread_id': 'threads:read',
    'PATCH /threads/:thread_id': 'threads:update',
    'DELETE /threads/:thread_id': 'threads:delete',
    'PATCH /threads/:thread_id/state': 'threads:update',
    'POST /threads/:thread_id/copy': 'threads:read',
    'POST /threads/prune': 'threads:delete',
    'run.start': 'runs:create',
    'run.start from a checkpoint': 'runs:create',
    'input.respond': 'runs:create',
    'input.inject': 'threads:update',
    'state.get': 'threads:read',
    'state.listCheckpoints': 'threads:read',
    'state.fork': 'runs:create',
    'agent.getTree': 'threads:read',
  }

  /** A server whose `authorize` refuses one action from the moment when the test says so. */
  async function refusing() {
    let refused: string | undefined
    const asked: unknown[] = []
    const host = await serve((principal, action, resource) => {
      asked.push([principal?.id, action, resource])
      return action !== refused
    })
    const known = await annsThread(host)
    asked.length = 0
    return {
      host,
      asked,
      ...known,
      refuse(action: string) {
        refused = action
      },
      allow() {
        refused = undefined
      },
    }
  }

  test('every route and command is in the table', () => {
    expect(Object.keys(ACTIONS).sort()).toEqual([...Object.keys(REQUESTS), ...Object.keys(COMMANDS)].sort())
  })

  for (const [route, action] of Object.entries(ACTIONS)) {
    test(`refuses ${route} as ${action}, and nothing changes`, async () => {
      const { host, asked, refuse, allow, thread, ...known } = await refusing()
      const before = [(await thread.get('')).body, (await thread.get('/state')).body]
      asked.length = 0
      refuse(action)
      if (route in REQUESTS) {
        expect(await ask(host, route, known, thread.id, as('ann'))).toEqual({
          status: 403,
          text: JSON.stringify({ error: 'permission_denied', message: `Not permitted: ${action}.` }),
        })
      } else {
        const [method = ''] = route.split(' ')
        expect(await thread.refused(method, COMMANDS[route]!(known))).toBe('permission_denied')
      }
      expect(asked[0]).toMatchObject(['ann', action, {}])
      const [, , resource] = asked[0] as [string, string, Json]
      expect(resource.threadId).toBe(action === 'threads:list' ? undefined : thread.id)
      // The thread that would tell the assistant has not been read by then.
      if (route.startsWith('run.start')) expect(resource.assistantId).toBe('ask')
      allow()
      expect([(await thread.get('')).body, (await thread.get('/state')).body]).toEqual(before)
    })
  }

  test('is asked again with the assistant of the thread, where a command names none', async () => {
    const commands = ['input.respond', 'state.fork'] as const
    for (const method of commands) {
      const asked: unknown[] = []
      let isKnownRefused = false
      const host = await serve((_, action, resource) => {
        asked.push([action, resource])
        return !isKnownRefused || resource.assistantId === undefined
      })
      const { thread, ...known } = await annsThread(host)
      const before = (await thread.get('/state')).body
      asked.length = 0
      isKnownRefused = true
      expect(await thread.refused(method, COMMANDS[method]!(known))).toBe('permission_denied')
      expect(asked.slice(0, 2)).toEqual([
        ['runs:create', { threadId: thread.id, assistantId: undefined }],
        ['runs:create', { threadId: thread.id, assistantId: 'ask' }],
      ])
      expect((await thread.get('/state')).body).toEqual(before)
    }
  })

  test('is asked with the assistant that will run, and never with `_`', async () => {
    const asked: unknown[] = []
    const host = await serve((_, action, resource) => {
      asked.push([action, resource])
      return asked.length < 3
    })
    const thread = host.thread('mine', as('ann'))
    await thread.start({}, { assistant_id: 'ask' })
    await thread.idle()
    asked.length = 0
    const start = ['runs:create', { threadId: thread.id, assistantId: undefined }]
    const known = ['runs:create', { threadId: thread.id, assistantId: 'ask' }]
    await thread.start('yes', { assistant_id: '_' })
    expect(asked).toEqual([start, known])
    expect(await thread.refused('run.start', { assistant_id: '_', input: {} })).toBe('permission_denied')
    expect(asked).toEqual([start, known, start])
  })

  test('is asked with the assistant that a new thread is bound to', async () => {
    const asked: unknown[][] = []
    const host = await serve((_, action, resource) => {
      asked.push([action, resource])
      return resource.assistantId === undefined
    })
    const create = (metadata: Json) =>
      request(host.origin, 'POST', '/threads', { thread_id: 't', metadata }, as('ann'))
    expect((await create({ graph_id: 'ask' })).status).toBe(403)
    expect((await host.thread('t', as('ann')).get('')).status).toBe(404)
    expect((await create({ graph_id: 'elsewhere' })).status).toBe(200)
    expect(asked.filter(([action]) => action === 'threads:create')).toEqual([
      ['threads:create', { threadId: 't', assistantId: 'ask' }],
      ['threads:create', { threadId: 't' }],
    ])
  })

  test('cannot grant a thread of another owner', async () => {
    const host = await serve(() => true)
    const { thread } = await annsThread(host)
    expect((await host.thread(thread.id, as('bob')).get('')).status).toBe(404)
  })

  test('refuses also when it throws, and its error stays on the server', async () => {
    let fails = false
    const host = await serve(() => {
      if (fails) throw new Error('the policy server says: secret')
      return true
    })
    const { thread } = await annsThread(host)
    const before = (await thread.get('/state')).body
    fails = true
    const answer = await thread.command('run.start', { input: 'x' })
    expect(answer.type).toBe('error')
    const { status, body } = await thread.get('/state')
    expect(status).toBeGreaterThanOrEqual(400)
    expect(JSON.stringify([answer, body])).not.toContain('secret')
    expect(host.errors.splice(0)).toHaveLength(2)
    fails = false
    expect((await thread.get('/state')).body).toEqual(before)
  })
})
