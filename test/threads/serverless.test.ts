import { expect, onTestFinished, test, vi } from 'vitest'
import { type AgentEngine, createAgentServer, defineAgent } from '../../src/index.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'

/** Hosts that load a module before there is a request, and stop a process that owes no response, as Workers do. */

const FORBIDDEN = ['setTimeout', 'setInterval', 'setImmediate', 'AbortController', 'fetch'] as const

const agents = {
  asks: defineAgent({
    async run({ interrupt, message, signal }) {
      if ((await interrupt('Shall I?')) !== 'slowly') return
      await message('Yes.')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  }),
  slow: defineAgent({
    async run({ message }) {
      await message('At last.')
      await new Promise((resolve) => setTimeout(resolve, 100))
    },
  }),
}

const quiet = { authenticate: () => ({ id: 'ann' }) }
const address = { threadId: 't', principal: { id: 'ann' } }

test('a server is made where timers, random values and AbortControllers are forbidden, and works once they are allowed', async () => {
  const forbid = () => {
    throw new Error('Disallowed operation called within global scope.')
  }
  for (const name of FORBIDDEN) vi.stubGlobal(name, forbid)
  vi.stubGlobal('crypto', { randomUUID: forbid, getRandomValues: forbid, subtle: {} })
  let sweeps = 0
  const store = memoryStore()
  const counted = {
    ...store,
    sweep: async () => {
      sweeps++
      await store.sweep()
    },
  }
  const server = (() => {
    try {
      return createAgentServer({ agents, store: counted, sweepMs: 5, ...quiet })
    } finally {
      vi.unstubAllGlobals()
    }
  })()
  onTestFinished(server.close)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(sweeps).toBe(0)
  const started = await server.engine.start({ ...address, assistantId: 'slow', input: {} })
  expect((await server.engine.wait({ ...address, ...started })).status).toBe('success')
  await expect.poll(() => sweeps).toBeGreaterThan(0)
})

test('whatever starts a run keeps the host alive until no run of the thread is left, and nothing else does', async () => {
  const server = createAgentServer({ agents, ...quiet })
  onTestFinished(server.close)
  let kept: Promise<unknown>[] = []
  const call = async (method: string, path: string, body?: unknown) => {
    kept = []
    const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const host = { waitUntil: (work: Promise<unknown>) => void kept.push(work) }
    const response = await server.fetch(new Request(`http://host/threads${path}`, init), host)
    expect(response.status).toBe(200)
    return path.endsWith('/stream') ? response.body?.cancel() : response.json()
  }
  const command = (method: string, params: object) => call('POST', '/t/commands', { id: 1, method, params })
  const isIdle = async (engine: AgentEngine) => (await engine.findThread(address))?.activeRunId === null

  await command('run.start', { assistant_id: 'slow', input: {} })
  expect(kept).toHaveLength(1)
  const first = kept[0]
  await command('run.start', { input: {} })
  expect(await Promise.race([first, 'runs'])).toBe('runs')
  await first
  expect(await isIdle(server.engine)).toBe(true)
  expect((await server.engine.findThread(address))?.queue).toEqual([])

  await call('GET', '/t/state')
  expect(kept).toEqual([])
  const history = (await call('POST', '/t/history', {})) as { checkpoint: { checkpoint_id: string } }[]
  await command('state.fork', { checkpoint_id: history[0]!.checkpoint.checkpoint_id, input: {} })
  expect(kept).toHaveLength(1)
  await command('input.inject', { message: { role: 'user', content: 'And?' } })
  expect(kept).toHaveLength(1)
  await call('POST', '/t/stream', { channels: ['lifecycle'] })
  expect(kept).toHaveLength(1)
  await kept[0]
  expect(await isIdle(server.engine)).toBe(true)

  await call('GET', '')
  expect(kept).toEqual([])
})

test('an answer keeps the host alive until its run has ended, also where it is cancelled', async () => {
  const server = createAgentServer({ agents, ...quiet })
  onTestFinished(server.close)
  const kept: Promise<unknown>[] = []
  const post = async (path: string, body: unknown = {}) => {
    const request = new Request(`http://host/threads/t${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    const response = await server.fetch(request, { waitUntil: (work) => void kept.push(work) })
    const text = await response.text()
    return text === '' ? undefined : JSON.parse(text)
  }
  await post('/commands', { id: 1, method: 'run.start', params: { assistant_id: 'asks', input: {} } })
  await Promise.all(kept.splice(0))
  const [asked] = (await server.engine.findThread(address))!.interrupts
  const params = { interrupt_id: asked!.id, response: 'slowly' }
  const answered = (await post('/commands', { id: 2, method: 'input.respond', params })) as {
    result: { run_id: string }
  }
  expect(kept).toHaveLength(1)
  await post(`/runs/${answered.result.run_id}/cancel`)
  await Promise.all(kept)
  expect((await server.engine.findThread(address))?.status).toBe('idle')
})
