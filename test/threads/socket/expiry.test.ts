import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { defineAgent, type Principal } from '../../../src/index.ts'
import { request } from '../../kit/client.ts'
import type { Json } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'

const agent = defineAgent({ run: async ({ message }) => void (await message('hello')) })

async function served(more: object = {}) {
  const tokens = new Map<string, Principal>([['ann-token', { id: 'ann', ...more }]])
  let asked = 0
  const { origin } = await serveAgents({
    agents: { agent },
    authenticate({ headers }) {
      asked += 1
      return tokens.get(headers.get('authorization')?.replace('Bearer ', '') ?? '') ?? null
    },
  })
  const open = async (token = 'ann-token') => {
    const socket = new WebSocket(`${origin.replace('http', 'ws')}/threads/one/stream/events`, [
      `bearer.${token}`,
    ])
    onTestFinished(() => socket.terminate())
    const answers: Json[] = []
    const waiting: ((answer: Json) => void)[] = []
    socket.on('message', (data) => {
      const read = JSON.parse(String(data))
      answers.push(read)
      waiting.shift()?.(read)
    })
    const closed = new Promise<number>((resolve) => socket.on('close', resolve))
    await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
    const send = (method: string, params: object = {}) => {
      const answer = new Promise<Json>((resolve) => waiting.push(resolve))
      socket.send(JSON.stringify({ id: 1, method, params }))
      return answer
    }
    return { closed, send, answers }
  }
  return { origin, tokens, open, asked: () => asked }
}

const RUN = { input: { messages: [] } }

afterEach(() => {
  vi.useRealTimers()
})

describe('a socket whose token is revoked', () => {
  test('runs nothing any more, and ends with 4401', async () => {
    const { tokens, open, origin } = await served()
    const { send, closed, answers } = await open()
    expect(await send('run.start', RUN)).toMatchObject({ type: 'success' })
    tokens.clear()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 })
    void send('run.start', RUN)
    expect(await closed).toBe(4401)
    expect(answers).toHaveLength(1)
    tokens.set('ann-token', { id: 'ann' })
    const { body } = await request(origin, 'GET', '/threads/one/runs', undefined, {
      authorization: 'Bearer ann-token',
    })
    expect(body).toHaveLength(1)
  })

  test('ends, too, when the token has become another user’s', async () => {
    const { tokens, open } = await served()
    const { send, closed } = await open()
    tokens.set('ann-token', { id: 'ann', tenant: 'acme' })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 })
    void send('run.start', RUN)
    expect(await closed).toBe(4401)
  })

  test('is asked about at most once in five seconds', async () => {
    const { open, asked } = await served()
    const { send } = await open()
    const before = asked()
    for (let at = 0; at < 5; at++) await send('state.get')
    expect(asked()).toBe(before)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 })
    for (let at = 0; at < 5; at++) await send('state.get')
    expect(asked()).toBe(before + 1)
  })
})

describe('credentials with an expiresAt', () => {
  test.each([[(at: number) => at], [(at: number) => new Date(at)]])(
    'end a socket with 4401',
    async (form) => {
      const { open } = await served({ expiresAt: form(Date.now() + 300) })
      expect(await (await open()).closed).toBe(4401)
    },
  )

  test('end an event stream without a clean end, so that its client reconnects', async () => {
    const { origin } = await served({ expiresAt: Date.now() + 300 })
    const stream = await fetch(`${origin}/threads/one/stream/events`, {
      method: 'POST',
      headers: { authorization: 'Bearer ann-token', 'content-type': 'application/json' },
      body: JSON.stringify({ channels: ['messages'] }),
    })
    expect(stream.status).toBe(200)
    await expect(stream.text()).rejects.toThrow()
  })

  test('of a far future end nothing', async () => {
    const { open, origin } = await served({ expiresAt: Date.now() + 1e12 })
    const { send } = await open()
    expect(await send('run.start', RUN)).toMatchObject({ type: 'success' })
    const wait = await request(
      origin,
      'POST',
      '/runs/stream',
      { assistant_id: 'agent', input: {} },
      { authorization: 'Bearer ann-token' },
    )
    expect(wait.body).toContain('event: values')
  })
})
