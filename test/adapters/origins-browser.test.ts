import { createServer, type RequestListener } from 'node:http'
import fastifyCors from '@fastify/cors'
import { getRequestListener } from '@hono/node-server'
import cors from 'cors'
import express from 'express'
import createFastify from 'fastify'
import { Hono } from 'hono'
import { cors as honoCors } from 'hono/cors'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { toExpress } from '../../adapters/express.ts'
import { toFastify } from '../../adapters/fastify.ts'
import { toHono } from '../../adapters/hono.ts'
import { serve } from '../../adapters/node.ts'
import { createControlPlaneHandler } from '../../src/control-plane/index.ts'
import type { HttpOptions } from '../../src/faces/kit/index.ts'
import { type AgentServer, createAgentServer, defineAgent } from '../../src/index.ts'
import { executablePath, launchBrowser } from '../kit/browser.ts'
import { openServer } from '../kit/listen.ts'
import { openScriptPage } from '../kit/site.ts'

const RUN = JSON.stringify({ assistant_id: 'agent', input: { messages: [] } })
const COMMAND = JSON.stringify({ id: 1, method: 'run.start', params: JSON.parse(RUN) })
const MESSAGE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'message/send',
  params: { message: { role: 'user', messageId: 'm', parts: [{ kind: 'text', text: 'hi' }] } },
})

describe.runIf(executablePath !== undefined || process.env.CI === '1')('in Chromium', () => {
  let browser: Browser
  let site: Awaited<ReturnType<typeof openScriptPage>>

  beforeAll(async () => {
    site = await openScriptPage('')
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  const openPage = async (url: string): Promise<Page> => {
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    await page.goto(url)
    return page
  }

  /** A page of another origin: another port, and another name of this machine. */
  const otherPage = () => openPage(site.origin.replace('127.0.0.1', 'localhost'))

  test.each([
    ['a command', '/threads/t/commands', COMMAND],
    ['a run of the REST', '/runs/wait', RUN],
    ['a message of A2A', '/a2a/agent', MESSAGE],
    ['a command of the devtools', '/devtools/api/threads/t/answers', '{}'],
    ['a deployment', '/v2/deployments', '{}'],
  ])('%s that a page of another origin sends as text is refused before it is read', async (_, path, body) => {
    const { origin, runs, asked, statuses } = await serveAgents({ cors: false })
    const page = await otherPage()
    await page.evaluate(
      ([url, body]) => fetch(url!, { method: 'POST', mode: 'no-cors', credentials: 'include', body: body! }),
      [origin + path, body],
    )
    expect([runs(), asked(), statuses]).toEqual([0, 0, [403]])
  })

  test('its forms, images and requests without a body are refused, too', async () => {
    const { origin, runs, asked, statuses } = await serveAgents({ cors: false })
    for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const page = await otherPage()
      await page.evaluate(
        ([url, enctype, name]) => {
          const form = document.createElement('form')
          Object.assign(form, { action: url, method: 'post', enctype })
          const input = document.createElement('input')
          Object.assign(input, { name, value: '"}' })
          form.append(input)
          document.body.append(form)
          form.submit()
        },
        [`${origin}/threads/t/commands`, enctype, COMMAND.replace('}}', '},"x":"')],
      )
      await page.waitForURL(`${origin}/**`)
    }
    const page = await otherPage()
    await page.evaluate((url) => fetch(url, { method: 'POST', mode: 'no-cors' }), `${origin}/threads`)
    await page.evaluate(
      (url) =>
        new Promise((resolve) => {
          const image = new Image()
          image.onerror = resolve
          image.src = url
        }),
      `${origin}/threads`,
    )
    expect([runs(), asked(), statuses]).toEqual([0, 0, [403, 403, 403, 403, 403]])
  })

  test('its links lead to pages of the server, and what it gets of others it cannot read', async () => {
    const { origin, statuses } = await serveAgents({ cors: false })
    const page = await otherPage()
    const read = await page.evaluate(
      (url) =>
        fetch(url).then(
          () => 'read',
          () => 'kept',
        ),
      `${origin}/threads`,
    )
    await page.evaluate(
      (url) => window.location.assign(url),
      `${origin}/a2a/agent/.well-known/agent-card.json`,
    )
    await page.waitForURL(`${origin}/**`)
    expect(await page.textContent('body')).toContain('protocolVersion')
    expect([read, statuses]).toEqual(['kept', [200, 200]])
  })

  test("the server's own page sends what it likes, also through a proxy that changes the host", async () => {
    const { origin, runs } = await serveAgents({ cors: false })
    const proxy = await openServer(
      createServer((request, response) => {
        const chunks: Buffer[] = []
        request.on('data', (chunk) => chunks.push(chunk))
        request.on('end', async () => {
          const { host: _, connection: __, ...headers } = request.headers
          const { method = 'GET' } = request
          const body = method === 'GET' ? undefined : Buffer.concat(chunks)
          const answer = await fetch(origin + request.url, {
            method,
            headers: headers as never,
            body: body as never,
          })
          response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
          response.end(await answer.text())
        })
      }),
    )
    onTestFinished(proxy.close)
    for (const [index, at] of [origin, proxy.origin].entries()) {
      const page = await openPage(`${at}/info`)
      const status = await page.evaluate(
        async (body) => (await fetch('/threads/own/commands', { method: 'POST', body })).status,
        COMMAND,
      )
      expect(status).toBe(200)
      await expect.poll(runs).toBe(index + 1)
    }
  })

  test.each([undefined, { origins: '*' }])('a page that cors allows sends text, too: %j', async (cors) => {
    const { origin, runs } = await serveAgents({ cors })
    const page = await otherPage()
    const status = await page.evaluate(
      async ([url, body]) => (await fetch(url!, { method: 'POST', body: body! })).status,
      [`${origin}/threads/t/commands`, COMMAND],
    )
    expect(status).toBe(200)
    await expect.poll(runs).toBe(1)
  })

  describe.each<[string, (server: AgentServer) => Promise<{ origin: string; close(): Promise<void> }>]>([
    [
      'express with cors',
      (server) => openServer(createServer(express().use(cors()).use(toExpress(server)) as RequestListener)),
    ],
    [
      'express with cors and parsers',
      (server) => {
        const app = express().use(cors(), express.json(), express.text({ type: '*/*' }))
        return openServer(createServer(app.use(toExpress(server)) as RequestListener))
      },
    ],
    [
      'fastify with @fastify/cors',
      async (server) => {
        const app = createFastify({ keepAliveTimeout: 500 })
        await app.register(fastifyCors)
        await app.register(toFastify(server))
        return { origin: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() }
      },
    ],
    [
      'hono with its cors',
      (server) => {
        const app = new Hono().use(honoCors()).route('/', toHono(server))
        return openServer(createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false })))
      },
    ],
  ])('behind %s', (_, open) => {
    test('a page sends JSON, asks without a body and reads the answers, and its text is refused', async () => {
      const made = agents()
      const server = createAgentServer(made.options)
      const { origin, close } = await open(server)
      onTestFinished(async () => {
        await server.close()
        await close()
      })
      const page = await otherPage()
      const answers = await page.evaluate(
        async ([origin, body]) => {
          const headers = { 'content-type': 'application/json' }
          const url = `${origin}/threads/t/commands`
          const text = await fetch(url, { method: 'POST', body: body! })
          const started = await fetch(url, { method: 'POST', headers, body: body! })
          const empty = await fetch(`${origin}/threads`, { method: 'POST' })
          const listed = await fetch(`${origin}/threads`)
          const found = (await listed.json()).length
          return [text.status, (await text.json()).error, started.status, empty.status, found]
        },
        [origin, COMMAND],
      )
      expect(answers).toEqual([403, 'origin_not_allowed', 200, 200, 2])
      await expect.poll(made.runs).toBe(1)
    })
  })

  /** A server behind a real socket, with all faces, that counts the runs of its agent and the calls of `authenticate`. */
  async function serveAgents(http: HttpOptions) {
    const { options, runs, asked } = agents()
    const controlPlane = createControlPlaneHandler({
      deployer: { deploy: async () => {} } as never,
      authenticate: options.authenticate,
      worker: false,
    })
    const server = createAgentServer({ ...options, http, controlPlane, devtools: true })
    const statuses: number[] = []
    const watched: AgentServer = {
      ...server,
      async fetch(request, context) {
        const response = await server.fetch(request, context)
        if (!request.url.includes('favicon')) statuses.push(response.status)
        return response
      },
    }
    const { origin, close } = await serve(watched, { port: 0, silent: true })
    onTestFinished(close)
    return { origin, runs, asked, statuses }
  }
})

function agents() {
  let runs = 0
  let asked = 0
  const agent = defineAgent({
    async run() {
      runs++
    },
  })
  const authenticate = () => {
    asked++
    return { id: 'visitor' }
  }
  return { options: { agents: { agent }, authenticate }, runs: () => runs, asked: () => asked }
}
