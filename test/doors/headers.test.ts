import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serve } from '../../adapters/node.ts'
import { createControlPlaneHandler } from '../../src/control-plane/index.ts'
import { type AgentServer, createAgentServer } from '../../src/index.ts'
import { scriptedDeployer } from '../control-plane/support/scripted-deployer.ts'
import { agents } from './agents.ts'
import { DOORS } from './all.ts'

/** The headers that pages of other origins may send: those of each door's client and of its documentation. */

const PAGE = 'http://localhost:5173'

/** Headers that a browser sends itself, or that need no preflight. */
const OF_BROWSERS =
  /^(accept|accept-encoding|accept-language|connection|content-length|host|origin|sec-.*|transfer-encoding|user-agent)$/

/** Headers of docs/*.md, and headers that clients send in a browser only. */
const DOCUMENTED: Readonly<Record<string, readonly string[]>> = {
  '/threads/t/stream': ['last-event-id', 'x-api-key', 'authorization'],
  '/threads/t/runs/stream': ['last-event-id', 'x-auth-scheme', 'x-api-key', 'prefer'],
  '/a2a/says': [
    'a2a-version',
    'a2a-extensions',
    'x-a2a-extensions',
    'langgraph-a2a-history-scope',
    'last-event-id',
  ],
  '/mcp': ['mcp-protocol-version', 'mcp-session-id', 'mcp-method', 'mcp-name', 'last-event-id'],
  '/api/chat': ['idempotency-key', 'traceparent'],
  '/ag-ui/says': ['idempotency-key', 'traceparent'],
  '/v1/chat/completions': [
    'x-thread-id',
    'x-openwebui-chat-id',
    'x-conversation-id',
    'idempotency-key',
    'openai-beta',
    'openai-organization',
    'openai-project',
    'x-stainless-helper-method',
    'x-stainless-timeout',
  ],
  '/v2/deployments': ['x-tenant-id', 'x-api-key', 'if-match', 'prefer'],
}

describe('a preflight at the default server', () => {
  let origin: string
  let close: () => Promise<void>
  const sent: { readonly method: string; readonly path: string; readonly headers: readonly string[] }[] = []

  beforeAll(async () => {
    const server = createAgentServer({
      agents,
      faces: DOORS.flatMap(({ faces }) => faces),
      controlPlane: createControlPlaneHandler({
        deployer: scriptedDeployer(),
        authenticate: () => ({ id: 'ann' }),
        worker: false,
      }),
    })
    const watched: AgentServer = {
      ...server,
      fetch(request, context) {
        const { pathname } = new URL(request.url)
        const headers = [...request.headers.keys()].filter((name) => !OF_BROWSERS.test(name))
        if (request.method !== 'OPTIONS') sent.push({ method: request.method, path: pathname, headers })
        return server.fetch(request, context)
      },
    }
    const served = await serve(watched, { port: 0, silent: true })
    origin = served.origin
    close = served.close
  })
  afterAll(() => close())

  async function preflight(path: string, method: string, headers: readonly string[]) {
    const response = await fetch(origin + path, {
      method: 'OPTIONS',
      headers: {
        origin: PAGE,
        'access-control-request-method': method,
        'access-control-request-headers': headers.join(),
      },
    })
    expect(response.headers.get('access-control-allow-origin')).toBe(PAGE)
    return response.headers.get('access-control-allow-headers')!.split(',')
  }

  test.each(DOORS)('allows what the client of $name sends', async (door) => {
    sent.length = 0
    const { send } = door.open({ origin, threadId: randomUUID(), agent: 'says' })
    expect(await send('hi')).toMatchObject({ end: 'completed' })
    expect(sent.length).toBeGreaterThan(0)
    for (const { method, path, headers } of [...sent])
      expect(await preflight(path, method, headers)).toEqual(expect.arrayContaining([...headers]))
  })

  test.each(Object.entries(DOCUMENTED))(
    'allows what the documentation of %s sends',
    async (path, headers) => {
      expect(await preflight(path, 'POST', headers)).toEqual(expect.arrayContaining([...headers]))
    },
  )

  test('lets pages read the headers of each protocol', async () => {
    const response = await fetch(`${origin}/threads`, { method: 'POST', headers: { origin: PAGE } })
    const exposed = response.headers.get('access-control-expose-headers')!.split(',')
    expect(exposed).toEqual(
      expect.arrayContaining([
        'content-location',
        'x-pagination-total',
        'x-pagination-next',
        'a2a-extensions',
        'mcp-session-id',
        'x-vercel-ai-ui-message-stream',
        'www-authenticate',
      ]),
    )
  })
})
