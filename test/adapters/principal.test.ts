/** The option `principal` of every adapter: the host's own session says who asks, in place of `authenticate`. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { serve as serveHono } from '@hono/node-server'
import express from 'express'
import express4 from 'express4'
import createFastify, { type FastifyRequest } from 'fastify'
import { type Context, Hono } from 'hono'
import { NextRequest } from 'next/server'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { toExpress } from '../../adapters/express.ts'
import { toFastify } from '../../adapters/fastify.ts'
import { toHono } from '../../adapters/hono.ts'
import { toNext } from '../../adapters/next.ts'
import { acceptSockets, serve, toNode } from '../../adapters/node.ts'
import {
  type AgentServer,
  createAgentServer,
  defineAgent,
  HttpError,
  type Principal,
} from '../../src/index.ts'
import { openServer } from '../kit/listen.ts'

const agent = defineAgent({ run: async ({ principal, message }) => void (await message(`${principal?.id}`)) })

/** What a host's session gives for a name. */
function find(name: unknown): Principal | Response | null | undefined {
  if (name === 'away') throw new HttpError(503, 'sessions_away', 'The sessions are away.')
  if (name === 'broken') throw new Error('a secret')
  if (name === 'moved') return new Response('moved', { status: 302, headers: { location: '/login' } })
  if (name === 'nobody') return null
  return typeof name === 'string' ? { id: name } : undefined
}

/** Whatever a middleware of the host adds to its requests. */
interface WithUser {
  readonly user?: string | undefined
}

const name = ({ headers }: Pick<IncomingMessage, 'headers'>) => headers['x-session'] as string | undefined

interface Mounted {
  readonly ask: (path: string, session?: string) => Promise<Response>
  /** Undefined if the host has no sockets. */
  readonly origin?: string
}

const onError = () => {}

async function onNode(listener: Parameters<typeof createServer>[1], server: AgentServer): Promise<Mounted> {
  const http = createServer(listener)
  acceptSockets(http, server, { basePath: '/agents', principal: (req) => find(name(req)), onError })
  const { origin, close } = await openServer(http)
  onTestFinished(close)
  return { ask: asking(origin), origin: `${origin}/agents` }
}

const asking = (origin: string) => (path: string, session?: string) =>
  fetch(`${origin}/agents${path}`, {
    redirect: 'manual',
    headers: session === undefined ? {} : { 'x-session': session },
  })

const HOSTS: Readonly<Record<string, (server: AgentServer) => Promise<Mounted>>> = {
  node: (server) =>
    onNode(toNode(server, { basePath: '/agents', onError, principal: (req) => find(name(req)) }), server),
  async serve(server) {
    const options = { port: 0, silent: true, basePath: '/agents', onError }
    const { origin, close } = await serve(server, { ...options, principal: (req) => find(name(req)) })
    onTestFinished(close)
    return { ask: asking(origin), origin: `${origin}/agents` }
  },
  ...Object.fromEntries(
    (
      [
        ['express', express],
        ['express 4', express4 as unknown as typeof express],
      ] as const
    ).map(([title, create]) => [
      title,
      (server: AgentServer) => {
        const app = create()
        app.use((req: IncomingMessage & { user?: string | undefined }, _res: unknown, next: () => void) => {
          req.user = name(req)
          next()
        })
        const principal = (req: IncomingMessage & WithUser) => find(req.user)
        app.use('/agents', toExpress(server, { principal, onError }))
        return onNode(app, server)
      },
    ]),
  ),
  async fastify(server) {
    const app = createFastify()
    app.addHook('onRequest', async (request) => {
      ;(request as { user?: string | undefined }).user = name(request)
    })
    const principal = (request: FastifyRequest) => find((request as WithUser).user)
    await app.register(toFastify(server, { principal, onError }), { prefix: '/agents' })
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    onTestFinished(() => app.close())
    return { ask: asking(origin), origin: `${origin}/agents` }
  },
  async hono(server) {
    const app = new Hono<{ Variables: { user: string | undefined } }>()
    app.use(async (c, next) => {
      c.set('user', c.req.header('x-session'))
      await next()
    })
    app.route(
      '/agents',
      toHono(server, {
        principal: (c: Context<{ Variables: { user: string | undefined } }>) => find(c.get('user')),
      }),
    )
    const http = serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
    acceptSockets(http, server, { basePath: '/agents', principal: (req) => find(name(req)), onError })
    if (!http.listening) await once(http, 'listening')
    onTestFinished(() => void http.close())
    const { port } = http.address() as { port: number }
    return { ask: asking(`http://127.0.0.1:${port}`), origin: `http://127.0.0.1:${port}/agents` }
  },
  async next(server) {
    const principal = (request: NextRequest) => find(request.cookies.get('session')?.value)
    const { GET } = toNext(server, { basePath: '/agents', principal })
    return {
      ask: (path, session) => {
        const headers = session === undefined ? undefined : { cookie: `session=${session}` }
        return GET(new NextRequest(`http://localhost/agents${path}`, { headers }))
      },
    }
  },
}

const STATE = '/threads/none/state'

describe.each(Object.entries(HOSTS))('%s', (_, mount) => {
  const create = (authenticate?: () => Principal | null) =>
    createAgentServer({ agents: { agent }, onError, ...(authenticate && { authenticate }) })

  test('the session of the host says who asks', async () => {
    const server = create()
    const { ask } = await mount(server)
    await server.engine.createThread({ threadId: 'of-ada', principal: { id: 'ada' } })
    expect((await ask('/threads/of-ada', 'ada')).status).toBe(200)
    expect((await ask('/threads/of-ada', 'bob')).status).toBe(404)
    for (const session of [undefined, 'nobody']) {
      const response = await ask('/threads/of-ada', session)
      expect([response.status, (await response.json()).error]).toEqual([401, 'unauthorized'])
    }
    expect((await ask('/ok')).status).toBe(200)
  })

  test('it is asked in place of authenticate, and its answers mean the same', async () => {
    const authenticate = vi.fn(() => ({ id: 'by header' }))
    const { ask } = await mount(create(authenticate))
    expect((await ask(STATE)).status).toBe(401)
    const moved = await ask(STATE, 'moved')
    expect([moved.status, moved.headers.get('location')]).toEqual([302, '/login'])
    const away = await ask(STATE, 'away')
    expect([away.status, (await away.json()).error]).toEqual([503, 'sessions_away'])
    const broken = await ask(STATE, 'broken')
    expect(broken.status).toBe(500)
    expect(await broken.text()).not.toContain('secret')
    expect(authenticate).not.toHaveBeenCalled()
  })

  test('a web socket is asked about, too', async () => {
    const { origin } = await mount(create())
    if (origin === undefined) return
    const opened = async (session?: string) => {
      const socket = new WebSocket(`${origin}/threads/new/stream/events`, {
        headers: session === undefined ? {} : { 'x-session': session },
      })
      const outcome = await once(socket, 'open').then(
        () => 'open',
        (error: Error) => error.message,
      )
      socket.terminate()
      return outcome
    }
    expect(await opened('ada')).toBe('open')
    expect(await opened()).toBe('Unexpected server response: 401')
    expect(await opened('moved')).toBe('Unexpected server response: 302')
  })
})

test('a mount that names nobody lets nobody in, once another mount of the server has a principal', async () => {
  const server = createAgentServer({ agents: { agent }, devtools: true })
  toNode(server, { principal: () => ({ id: 'ada' }) })
  for (const path of ['/threads/one', '/devtools', '/devtools/api/threads', '/assistants/agent'])
    expect([path, (await server.fetch(new Request(`http://localhost${path}`))).status]).toEqual([path, 401])
  await server.close()
})

test('fastify: a hook that refuses a request refuses a handshake, and the hooks run for each', async () => {
  const app = createFastify()
  const seen: string[] = []
  app.addHook('onRequest', async (request, reply) => {
    seen.push(request.url)
    if (request.headers['x-session'] !== 'ada') return reply.code(403).send('no')
  })
  const server = createAgentServer({ agents: { agent } })
  await app.register(toFastify(server, { principal: () => ({ id: 'ada' }) }), { prefix: '/agents' })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(() => app.close())
  const url = `${origin}/agents/threads/new/stream/events`
  const refused = new WebSocket(url)
  expect((await once(refused, 'error'))[0]).toMatchObject({ message: 'Unexpected server response: 403' })
  const socket = new WebSocket(url, { headers: { 'x-session': 'ada' } })
  await once(socket, 'open')
  socket.terminate()
  expect(seen).toEqual(Array(2).fill('/agents/threads/new/stream/events'))
})

test('the option must be a function', () => {
  const server = createAgentServer({ agents: { agent } })
  const options = { principal: 'ada' as never }
  for (const adapt of [
    () => toNode(server, options),
    () => toExpress(server, options),
    () => toFastify(server, options),
    () => toHono(server, options),
    () => toNext(server, options),
  ])
    expect(adapt).toThrow(/principal/)
})
