import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lines } from '../../examples/face/face.ts'
import type { StartedTarget } from '../../src/audit/index.ts'
import {
  createFace,
  createFaceHandler,
  type FaceContext,
  type FaceSetup,
  json,
  route,
} from '../../src/faces/kit/index.ts'
import { createAgentServer, defineAgent } from '../../src/index.ts'
import { targets } from '../conformance/targets/index.ts'
import { unexpectedErrors } from '../kit/errors.ts'
import { gate } from '../kit/wait.ts'

/** The face of `examples/face`, through every adapter. */

const JSON_TYPE = { 'content-type': 'application/json' }

interface Line {
  readonly seq: number
  readonly method: string
  readonly data: { readonly event?: string }
}

describe.each(targets)('$name', (target) => {
  const { errors, reporters } = unexpectedErrors()
  const { opened: released, open: release } = gate()
  let started: StartedTarget
  let origin: string

  const agents = {
    echo: defineAgent({
      async run({ message }) {
        const answer = message()
        await answer.text('half ')
        await released
        await answer.text('whole')
        await answer.end()
      },
    }),
  }
  const authenticate = ({ headers }: Request) => {
    const id = headers.get('x-user')
    return id === null ? null : { id }
  }
  const server = createAgentServer({
    agents,
    authenticate,
    authorize: (principal, action) => action !== 'runs:create' || principal?.id !== 'reader',
    faces: [lines],
    ...reporters,
  })
  const call = (path: string, user?: string, text?: unknown, signal?: AbortSignal): Promise<Response> =>
    (started.fetch ?? fetch)(`${origin}${path}`, {
      method: text === undefined ? 'GET' : 'POST',
      headers: { ...JSON_TYPE, ...(user !== undefined && { 'x-user': user }) },
      ...(text !== undefined && { body: JSON.stringify({ text }) }),
      ...(signal && { signal }),
    })

  beforeAll(async () => {
    started = await target.start(server, {})
    origin = started.origin
  })
  afterAll(async () => {
    await started.close()
    await server.close()
    expect(errors).toEqual([])
  })

  test('a reader that leaves stops nothing, and every line can be read again', async () => {
    const path = `/lines/${randomUUID()}`
    const leaving = new AbortController()
    const first = await call(path, 'ann', 'Hello', leaving.signal)
    expect([first.status, first.headers.get('content-type')]).toEqual([
      200,
      'application/x-ndjson; charset=utf-8',
    ])
    const seen = linesOf(first)
    for await (const { method, data } of seen)
      if (method === 'messages' && data.event === 'content-block-delta') break
    leaving.abort()
    release()

    const whole = await readUntilEnd(await call(`${path}?after=0`, 'ann'))
    expect(whole.map(({ seq }) => seq)).toEqual(whole.map((_, at) => at + 1))
    expect(whole.at(0)?.data.event).toBe('running')
    expect(whole.at(-1)?.data.event).toBe('completed')
    const middle = whole[4]!.seq
    const rest = await readUntilEnd(await call(`${path}?after=${middle}`, 'ann'))
    expect(rest).toEqual(whole.filter(({ seq }) => seq > middle))
  })

  test('authentication, permissions, ownership and bad input are answered as everywhere', async () => {
    const path = `/lines/${randomUUID()}`
    release()
    await (await call(path, 'ann', 'Hello')).text()
    const answers = await Promise.all([
      call(path),
      call(path, 'reader', 'Hello'),
      call(path, 'ben'),
      call(path, 'ann', 7),
      call(`${path}?after=-1`, 'ann'),
    ])
    expect(await Promise.all(answers.map(async (one) => [one.status, (await one.json()).error]))).toEqual([
      [401, 'unauthorized'],
      [403, 'permission_denied'],
      [404, 'not_found'],
      [400, 'invalid_argument'],
      [400, 'invalid_argument'],
    ])
  })
})

test('every face of a server can be turned off', async () => {
  const agents = { echo: defineAgent({ run: async () => {} }) }
  const paths = { threads: '/threads', platform: '/info', a2a: '/a2a/echo', faces: '/health' }
  const health = (setup: FaceSetup) =>
    createFace(setup, {
      routes: [route('GET', '/health', { permission: 'public', run: async () => json({ ok: true }) })],
    })
  for (const off of ['threads', 'platform', 'a2a'] as const) {
    const server = createAgentServer({
      agents,
      authenticate: () => ({ id: 'ann' }),
      faces: [health],
      [off]: false,
    })
    const statuses = await Promise.all(
      Object.entries(paths).map(async ([name, path]) => {
        const { status } = await server.fetch(new Request(`http://127.0.0.1${path}`))
        return [name, status]
      }),
    )
    expect(Object.fromEntries(statuses)).toEqual({
      threads: 200,
      platform: 200,
      a2a: 200,
      faces: 200,
      [off]: 404,
    })
    await server.close()
  }
})

test('a face alone has an engine of its own, and its options are checked', async () => {
  const echo = defineAgent({ run: async () => {} })
  const health = (setup: FaceSetup) =>
    createFace<Health>(setup, {
      basePath: '/in',
      routes: [
        route('GET', '/health', { permission: 'public', run: async ({ name }: Health) => json({ name }) }),
      ],
      context: { name: 'echo' },
    })
  expect(() => createFaceHandler({ agents: { echo }, authentcate: () => null } as never, health)).toThrow(
    'createFaceHandler: unknown option authentcate. Did you mean authenticate?',
  )
  const handler = createFaceHandler({ agents: { echo }, authenticate: () => null }, health)
  const answer = await handler.fetch(new Request('http://127.0.0.1/in/health'))
  expect([answer.status, await answer.json()]).toEqual([200, { name: 'echo' }])
  expect(await handler.handle(new Request('http://127.0.0.1/health'))).toBe(undefined)
  await handler.close()
  expect((await handler.fetch(new Request('http://127.0.0.1/in/health'))).status).toBe(503)
})

test('an error of a face that nobody expects is reported with its id, and says nothing to the client', async () => {
  const reported: unknown[] = []
  const failing = (setup: FaceSetup) =>
    createFace(setup, {
      routes: [
        route('GET', '/fails', {
          permission: 'public',
          async run() {
            throw new Error('the password is 1234')
          },
        }),
      ],
    })
  const handler = createFaceHandler(
    {
      agents: { echo: defineAgent({ run: async () => {} }) },
      authenticate: () => null,
      onError: (error, { id }) => void reported.push([String(error), id]),
    },
    failing,
  )
  const answer = await handler.fetch(new Request('http://127.0.0.1/fails'))
  const { message } = await answer.json()
  expect([answer.status, message]).toEqual([500, expect.not.stringContaining('1234')])
  expect(reported).toEqual([['Error: the password is 1234', expect.any(String)]])
  await handler.close()
})

interface Health extends FaceContext {
  readonly name: string
}

async function* linesOf(response: Response): AsyncGenerator<Line, void, undefined> {
  let rest = ''
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const parts = (rest + value).split('\n')
    rest = parts.pop()!
    for (const line of parts) if (line !== '') yield JSON.parse(line)
  }
}

async function readUntilEnd(response: Response): Promise<readonly Line[]> {
  const read: Line[] = []
  for await (const line of linesOf(response)) {
    read.push(line)
    if (line.data.event === 'completed') break
  }
  await response.body?.cancel().catch(() => {}) // The reader that holds it is gone already.
  return read
}
