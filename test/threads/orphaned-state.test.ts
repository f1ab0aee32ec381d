import { MemorySaver } from '@langchain/langgraph'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type Authenticate, createAgentServer, memoryCheckpointer, memoryStore } from '../../src/index.ts'
import type { Checkpointer } from '../../src/storage/checkpointer/checkpointer.ts'
import { memoryStorage } from '../../src/storage/memory/storage.ts'
import { chat } from '../fixtures/graphs.ts'
import { type Host, serveAgents } from '../kit/host.ts'
import { puppet } from '../kit/puppet.ts'
import { sharedFile } from '../kit/shared.ts'

const authenticate: Authenticate = (request) => ({ id: request.headers.get('authorization') ?? 'nobody' })
const as = (id: string) => ({ authorization: id })

const secret = { messages: [{ type: 'human', content: 'My PIN is 1234.', id: 'h' }] }
const mine = { messages: [{ type: 'human', content: 'Tell me.', id: 'm' }] }

/** Servers whose saver outlives their store. */
const SAVERS: Readonly<Record<string, () => (options?: object) => Promise<Host>>> = {
  "the server's saver": () => {
    const { checkpointer } = sharedFile()()
    return (options) =>
      serveAgents({
        agents: { a: langgraph(chat()), b: puppet().agent },
        defaultAgent: 'a',
        checkpointer,
        authenticate,
        ...options,
      })
  },
  'a saver of an agent': () => {
    const graph = { ...langgraph(chat()), checkpointer: memoryCheckpointer() }
    return (options) => serveAgents({ agents: { b: puppet().agent, a: graph }, authenticate, ...options })
  },
}

describe.each(Object.entries(SAVERS))('a state in %s whose owner was forgotten', (_, make) => {
  async function forgotten() {
    const serve = make()
    const before = (await serve()).thread('t', as('ann'))
    await before.start(secret, { assistant_id: 'a' })
    await before.transcript()
    const { checkpoint } = (await before.get('/state')).body
    return { serve, checkpoint: checkpoint.checkpoint_id as string }
  }

  test('is unknown to every reader', async () => {
    const { serve, checkpoint } = await forgotten()
    const host = await serve()
    for (const name of ['ann', 'bob']) {
      const thread = host.thread('t', as(name))
      for (const path of ['', '/state', `/state/${checkpoint}`, '/history'])
        expect((await thread.get(path)).status).toBe(404)
      expect((await thread.request('DELETE', '')).status).toBe(404)
      expect(await thread.refused('state.get')).toBe('no_such_run')
      expect(await thread.refused('state.listCheckpoints')).toBe('no_such_run')
    }
  })

  test('cannot be taken over by a run, a fork, a written state or a new record', async () => {
    const { serve, checkpoint } = await forgotten()
    const host = await serve()
    const thread = host.thread('t', as('bob'))
    const refusal = { error: 'no_such_run', message: expect.stringContaining('does not know its owner') }
    expect(await thread.command('run.start', { input: mine, assistant_id: 'a' })).toMatchObject(refusal)
    expect(await thread.command('run.start', { input: null, assistant_id: 'a' })).toMatchObject(refusal)
    const config = { configurable: { checkpoint_id: checkpoint } }
    expect(await thread.command('run.start', { input: mine, assistant_id: 'a', config })).toMatchObject(
      refusal,
    )
    expect(await thread.refused('state.fork', { checkpoint_id: checkpoint })).toBe('no_such_run')
    expect((await thread.post('/state', { values: mine })).status).toBe(404)
    for (const if_exists of ['raise', 'do_nothing']) {
      const body = JSON.stringify({ thread_id: 't', if_exists })
      const made = await fetch(`${host.origin}/threads`, { method: 'POST', body, headers: as('bob') })
      expect(made.status).toBe(409)
    }
    expect((await thread.get('')).status).toBe(404)
    expect(JSON.stringify((await thread.get('/state')).body)).not.toContain('1234')
  })

  test('is everybody’s where nobody is authenticated', async () => {
    const serve = make()
    const open = { authenticate: undefined }
    const before = (await serve(open)).thread('t')
    await before.start(secret, { assistant_id: 'a' })
    await before.transcript()
    const thread = (await serve({ ...open, defaultAgent: 'a' })).thread('t')
    expect(JSON.stringify((await thread.get('/state')).body)).toContain('1234')
    await thread.start(mine, { assistant_id: 'a' })
    await thread.transcript()
    const { messages } = (await thread.get('/state')).body.values
    const texts = messages.map(({ content }: { content: string }) => content)
    expect(texts).toEqual(expect.arrayContaining(['My PIN is 1234.', 'Tell me.']))
  })
})

test('a thread of an owner can still be created, repeated, written and run', async () => {
  const host = await serveAgents({
    agents: { a: langgraph(chat()) },
    checkpointer: sharedFile()().checkpointer,
    authenticate,
  })
  const create = () =>
    fetch(`${host.origin}/threads`, {
      method: 'POST',
      body: '{"thread_id":"n"}',
      headers: { ...as('ann'), 'idempotency-key': 'k' },
    })
  expect((await create()).status).toBe(200)
  const thread = host.thread('n', as('ann'))
  await thread.post('/state', { values: secret })
  await thread.start(mine)
  await thread.transcript()
  expect((await create()).status).toBe(200)
})

describe('a server', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  beforeEach(() => void warn.mockClear())
  const warnings = () => warn.mock.calls.map(String).filter((text) => text.includes('the store is in memory'))

  class ForeignSaver extends MemorySaver {
    constructor() {
      super()
      Reflect.deleteProperty(this, 'storage')
    }
  }
  const foreign = () => new ForeignSaver() as unknown as Checkpointer

  test.each([
    ['a saver over a database', () => ({ checkpointer: sharedFile()().checkpointer })],
    ['a saver of other software', () => ({ checkpointer: foreign() })],
    ['an agent with one', () => ({ agents: { a: { ...puppet().agent, checkpointer: foreign() } } })],
  ])('warns of a store in memory beside %s', async (_, options) => {
    await createAgentServer({ agents: { a: puppet().agent }, ...options() }).close()
    expect(warnings()).toHaveLength(1)
  })

  test.each([
    ['everything in memory', () => ({})],
    ['savers in memory', () => ({ store: memoryStore(), checkpointer: memoryCheckpointer() })],
    ['a store in memory alone', () => ({ store: memoryStore() })],
    ['a saver in memory of another storage', () => ({ checkpointer: memoryStorage().checkpointer })],
    ["LangGraph's saver in memory", () => ({ checkpointer: new MemorySaver() as unknown as Checkpointer })],
    ['one database', () => sharedFile()()],
  ])('does not warn of %s', async (_, options) => {
    await createAgentServer({ agents: { a: puppet().agent }, ...options() }).close()
    expect(warnings()).toEqual([])
  })
})
