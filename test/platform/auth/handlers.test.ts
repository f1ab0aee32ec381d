import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth'
import { describe, expect, test } from 'vitest'
import { langgraphAuth } from '../../../src/faces/rest/index.ts'
import { type AgentServer, createAgentServer, defineAgent } from '../../../src/index.ts'
import { request } from '../../kit/client.ts'
import { serveAgents } from '../../kit/host.ts'
import { bearer, clientOf, knowing, USERS } from './users.ts'

const agents = {
  echo: defineAgent({
    async run({ principal, config, message }) {
      await message(JSON.stringify([principal, config.configurable]))
    },
  }),
}

const serve = (auth: Auth) => serveAgents({ agents, ...langgraphAuth(auth) })

interface Seen {
  readonly event: string
  readonly resource: string
  readonly action: string
  readonly value: Record<string, unknown>
  readonly user: object
  readonly permissions: unknown
}

describe('the handler that is asked', () => {
  const names = ['threads:create', 'threads', '*:create', '*'] as const

  test.each(names.map((_, at) => names.slice(at)))('is the most exact one: %s', async (...registered) => {
    const asked: string[] = []
    const auth = knowing()
    for (const name of [...registered].reverse()) auth.on(name, () => void asked.push(name))
    await clientOf((await serve(auth)).origin, 'ann').threads.create()
    expect(asked).toEqual([registered[0]])
  })

  test('may be set for several events, and later than the server is made', async () => {
    const auth = knowing()
    const client = clientOf((await serve(auth)).origin, 'ann')
    const { thread_id } = await client.threads.create()
    auth.on(['threads:read', 'threads:delete'], () => false)
    await expect(client.threads.get(thread_id)).rejects.toThrow(/HTTP 403/)
    await expect(client.threads.delete(thread_id)).rejects.toThrow(/HTTP 403/)
    expect((await client.threads.update(thread_id, { metadata: { a: 1 } })).metadata).toMatchObject({ a: 1 })
  })

  test('is told of the event, the user and the fields of the request', async () => {
    const seen: Seen[] = []
    const host = await serve(
      knowing().on('*', (event) => void seen.push(structuredClone(event) as unknown as Seen)),
    )
    const client = clientOf(host.origin, 'ann')
    const user = { ...USERS.ann, display_name: 'ann', is_authenticated: true }
    const common = { user, permissions: ['threads'] }
    const { thread_id } = await client.threads.create({
      threadId: crypto.randomUUID(),
      metadata: { a: 1 },
      ifExists: 'do_nothing',
    })
    await client.threads.update(thread_id, { metadata: { b: 2 } })
    await client.threads.search({ metadata: { a: 1 }, status: 'idle', limit: 3 })
    await client.threads.getState(thread_id)
    const thread = host.thread(thread_id, bearer('ann'))
    await thread.start({ x: 1 }, { assistant_id: 'echo', metadata: { c: 3 }, multitask_strategy: 'reject' })
    await thread.idle()
    await client.threads.delete(thread_id)
    const about = (event: string, value: object) => {
      const [resource, action] = event.split(':')
      return { event, resource, action, ...common, value: expect.objectContaining(value) }
    }
    expect(seen.filter(({ event }, at) => event !== seen[at - 1]?.event)).toEqual([
      about('threads:create', { thread_id, metadata: { a: 1 }, if_exists: 'do_nothing' }),
      about('threads:update', { thread_id, metadata: { b: 2 } }),
      about('threads:search', { metadata: { a: 1 }, status: 'idle', limit: 3 }),
      about('threads:read', { thread_id }),
      about('threads:create_run', {
        thread_id,
        assistant_id: 'echo',
        status: 'pending',
        metadata: { c: 3 },
        multitask_strategy: 'reject',
        kwargs: { input: { x: 1 } },
      }),
      about('threads:read', { thread_id }),
      about('threads:delete', { thread_id }),
    ])
  })

  test('writes metadata by what it leaves in the value, also where it removes keys', async () => {
    const auth = knowing().on(
      ['threads:create', 'threads:update', 'threads:create_run'],
      ({ value, user }) => {
        const { admin: _, ...kept } = (value.metadata ?? {}) as Record<string, unknown>
        value.metadata = { ...kept, by: user.identity }
      },
    )
    const host = await serve(auth)
    const client = clientOf(host.origin, 'ann')
    const created = await client.threads.create({ metadata: { admin: true, by: 'root', topic: 'x' } })
    expect(created.metadata).toEqual({ by: 'ann', topic: 'x' })
    const updated = await client.threads.update(created.thread_id, { metadata: { admin: true, more: 1 } })
    expect(updated.metadata).toEqual({ by: 'ann', topic: 'x', more: 1 })
    const thread = host.thread('new', bearer('bob'))
    await thread.start({}, { assistant_id: 'echo', metadata: { admin: true } })
    expect((await thread.idle()).metadata).toMatchObject({ by: 'bob' })
    expect((await thread.idle()).metadata).not.toHaveProperty('admin')
  })

  test('cannot change the request of a search', async () => {
    const auth = knowing().on('threads:search', ({ value }) => {
      Object.assign(value, { limit: 0, status: 'error', metadata: { none: true } })
    })
    const client = clientOf((await serve(auth)).origin, 'ann')
    await client.threads.create()
    expect(await client.threads.search()).toHaveLength(1)
  })
})

describe('the answer of a handler', () => {
  const answers = async (handler: () => unknown) => {
    const auth = knowing().on('threads:read', handler as () => boolean)
    const host = await serve(auth)
    const { thread_id } = await clientOf(host.origin, 'ann').threads.create({
      metadata: { owner: 'ann', list: ['x', 'y'] },
    })
    const answer = await request(host.origin, 'GET', `/threads/${thread_id}`, undefined, bearer('bob'))
    return { ...answer, host }
  }

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['true', true],
    ['an empty filter', {}],
    ['a value', { owner: 'ann' }],
    ['$eq', { owner: { $eq: 'ann' } }],
    ['$contains', { list: { $contains: 'x' } }],
    ['$contains with several', { list: { $contains: ['x', 'y'] } }],
    ['$or', { $or: [{ owner: 'bob' }, { owner: 'ann' }] }],
  ])('%s lets through', async (_, answer) => {
    expect((await answers(() => answer)).status).toBe(200)
    expect((await answers(async () => answer)).status).toBe(200)
  })

  test.each([
    ['another value', { owner: 'bob' }],
    ['another $contains', { list: { $contains: ['x', 'z'] } }],
    ['$and', { $and: [{ owner: 'ann' }, { owner: 'bob' }] }],
  ])('%s makes it unknown', async (_, answer) => {
    const { status, body } = await answers(() => answer)
    expect([status, body.error]).toEqual([404, 'not_found'])
  })

  test('false is 403', async () => {
    const { status, body } = await answers(() => false)
    expect([status, body]).toEqual([
      403,
      { error: 'permission_denied', message: 'Not permitted: threads:read.' },
    ])
  })

  test.each([
    [401, 'unauthorized'],
    [402, 'permission_denied'],
    [403, 'permission_denied'],
    [404, 'not_found'],
    [409, 'conflict'],
    [429, 'too_many_requests'],
  ])('an HTTPException of %i has its status, message and headers', async (status, error) => {
    const found = await answers(() => {
      throw new HTTPException(status as 401, {
        message: 'Because.',
        headers: { 'x-why': 'plan', 'retry-after': '3' },
      })
    })
    expect([found.status, found.body]).toEqual([status, { error, message: 'Because.' }])
    expect([found.headers.get('x-why'), found.headers.get('retry-after')]).toEqual(['plan', '3'])
  })

  test.each([
    ['a number', () => 1],
    ['a text', () => 'ann'],
    ['an array', () => []],
    ['a Map', () => new Map([['owner', 'bob']])],
    ['an unknown operator', () => ({ owner: { $ne: 'bob' } })],
    ['a comparison with undefined', () => ({ owner: undefined })],
    ['an error', () => Promise.reject(new Error('secret of the handler'))],
    ['what is no error', () => Promise.reject('secret of the handler')],
    [
      'an HTTPException that would be an answer',
      () => Promise.reject(Object.assign(new Error(), { status: 200, headers: {} })),
    ],
  ])('%s is 500, and tells nothing', async (_, handler) => {
    const { status, body, host } = await answers(handler)
    expect([status, body.error]).toEqual([500, 'internal_error'])
    expect(JSON.stringify(body)).not.toMatch(/secret|ann/)
    expect(host.errors.splice(0)).toHaveLength(1)
  })

  test('is waited for, and meanwhile nothing is done', async () => {
    let decide = (_: boolean) => {}
    const auth = knowing().on('threads:create', () => new Promise<boolean>((resolve) => (decide = resolve)))
    const client = clientOf((await serve(auth)).origin, 'ann')
    for (const allowed of [false, true]) {
      const created = client.threads.create().then(
        () => true,
        () => false,
      )
      await expect.poll(() => client.threads.count()).toBe(0)
      await new Promise((resolve) => setTimeout(resolve, 100))
      decide(allowed)
      expect(await created).toBe(allowed)
    }
    expect(await client.threads.count()).toBe(1)
  })
})

describe('who a request comes from', () => {
  const asking = async (authenticate: (request: Request) => unknown) => {
    const host = await serve(new Auth().authenticate(authenticate as () => string))
    const answer = await fetch(`${host.origin}/threads`, { method: 'POST', body: '{}' })
    return { status: answer.status, text: await answer.text(), host }
  }

  test('nobody is 401, with the message and the headers of the exception', async () => {
    const host = await serve(knowing())
    for (const headers of [{}, bearer('mallory'), { 'x-auth-scheme': 'langsmith' }] as HeadersInit[]) {
      const refused = await fetch(`${host.origin}/threads`, { headers })
      expect([refused.status, refused.headers.get('x-why'), await refused.text()]).toEqual([
        401,
        'token',
        'Who are you?',
      ])
    }
  })

  test.each([
    ['a text', 'ann'],
    ['an identity', { identity: 'ann' }],
  ])('%s is a user', async (_, user) => {
    expect((await asking(() => user)).status).toBe(200)
  })

  test.each([undefined, null, '', 7, {}, { user: { id: 'ann' } }, { identity: 7 }, { identity: '' }])(
    '%j is none: 500',
    async (user) => {
      const { status, host } = await asking(() => user)
      expect(status).toBe(500)
      expect(host.errors.splice(0)).toHaveLength(1)
    },
  )

  test('agents are told the user as authenticate gave it, whatever clients claim', async () => {
    const host = await serve(knowing())
    const thread = host.thread('t', bearer('ann'))
    const claims = {
      langgraph_auth_user: 'root',
      langgraph_auth_user_id: 'root',
      langgraph_auth_permissions: ['all'],
    }
    await thread.start({}, { assistant_id: 'echo', config: { configurable: claims } })
    await thread.idle()
    const { values } = (await thread.get('/state')).body
    const [principal, configurable] = JSON.parse(values.messages.at(-1).content)
    const user = { ...USERS.ann, display_name: 'ann', is_authenticated: true }
    expect(configurable).toMatchObject({
      langgraph_auth_user: user,
      langgraph_auth_user_id: 'ann',
      langgraph_auth_permissions: ['threads'],
    })
    expect(principal).toEqual({ ...user, id: 'ann' })
  })
})

describe('what is no Auth', () => {
  test.each([undefined, null, {}, () => true, 'auth'])('%s is refused when the server is made', (value) => {
    const make = (): AgentServer => createAgentServer({ agents, ...langgraphAuth(value as unknown as Auth) })
    expect(make).toThrow(/not an Auth from @langchain\/langgraph-sdk\/auth/)
  })

  test('neither is one without authenticate, which would let everybody in', () => {
    expect(() => langgraphAuth(new Auth().on('*', () => false))).toThrow(/authenticate/)
  })
})
