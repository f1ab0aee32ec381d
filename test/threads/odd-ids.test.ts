import { describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { approval, chat } from '../fixtures/graphs.ts'
import { serveAgents } from '../kit/host.ts'
import { send, serve } from './local.ts'

describe('odd thread ids', () => {
  const odd = [
    'a/b',
    'a%2Fb',
    '%',
    '%41',
    '..a',
    'a b',
    ' ',
    '?',
    '#',
    ';x=1',
    '\\',
    '"',
    "'",
    '日本語',
    '👩‍👩‍👧',
    'é',
    'e\u0301',
    '\u202e',
    'toString',
    'hasOwnProperty',
    'search',
    'count',
    'null',
    '0',
    `${'x'.repeat(512)}`,
  ]

  test.each(odd)('%j works as any other id', async (threadId) => {
    const host = await serveAgents({ agents: { chat: langgraph(chat()) } })
    const thread = host.thread(threadId)
    await thread.start({ messages: [{ type: 'human', content: threadId, id: 'h1' }] })
    const state = await thread.idle()
    expect(state.values.messages[0].content).toBe(threadId)
    expect(state.checkpoint.thread_id).toBe(threadId)
    expect((await thread.get('')).body.thread_id).toBe(threadId)
    expect((await thread.post('/history')).body.length).toBeGreaterThan(1)
    expect((await thread.request('DELETE', '')).status).toBe(204)
    expect((await thread.get('')).status).toBe(404)
  })

  const refused: readonly (readonly [name: string, segment: string])[] = [
    ['a reserved name', '__proto__'],
    ['another reserved name', 'constructor'],
    ['4 KiB', 'x'.repeat(4096)],
    ['a line break', '%0A'],
    ['NUL', 'a%00b'],
    ['half an escape', 'a%2'],
    ['no escape', '%zz'],
    ['a lone surrogate', '%ED%A0%80'],
    ['no UTF-8', '%FF%FE'],
    ['an overlong encoding', '%C0%AF'],
  ]

  test.each(['.', '..'])('%s is no id, because no path can name it', async (thread_id) => {
    const { server } = serve()
    const made = await send(server, { method: 'POST', path: '/threads', body: JSON.stringify({ thread_id }) })
    expect(made.status).toBe(400)
  })

  test.each(refused)('%s is refused with 400 by every route', async (_, segment) => {
    const { server, errors, written } = serve()
    for (const [method, pattern] of await server.routes()) {
      if (!pattern.includes(':thread_id')) continue
      const path = pattern.replace(':thread_id', segment).replace(/:\w+/g, 'x')
      const body = method === 'GET' || method === 'DELETE' ? undefined : JSON.stringify(bodyFor(pattern))
      // Where web sockets are opened, any other request is 426, whatever its thread.
      const headers = pattern.endsWith('/stream/events') ? { upgrade: 'websocket' } : undefined
      const answer = await send(server, { method, path, headers, body })
      // A refused command is an answer of the protocol.
      const status = answer.body.type === 'error' ? 400 : answer.status
      expect([method, pattern, status, answer.body.error]).toEqual([
        method,
        pattern,
        400,
        expect.stringMatching(/^invalid_/),
      ])
    }
    expect(written()).toBe(0)
    expect(errors).toEqual([])
  })

  test.each(['__proto__', '', 'a\nb', '\ud800', 'x\udc00y', 'x'.repeat(513)])(
    'POST /threads refuses %j',
    async (thread_id) => {
      const { server, written } = serve()
      const answer = await send(server, {
        method: 'POST',
        path: '/threads',
        body: JSON.stringify({ thread_id }),
      })
      expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_argument' } })
      expect(written()).toBe(0)
    },
  )
})

const bodyFor = (pattern: string): unknown => {
  if (pattern.endsWith('/commands'))
    return { id: 1, method: 'run.start', params: { assistant_id: 'ask', input: {} } }
  if (pattern.includes('/stream')) return { channels: ['values'] }
  return { checkpoint: { checkpoint_id: 'x' }, values: { notes: ['x'] } }
}

describe('an odd id of an interrupt, a checkpoint, a run or a namespace', () => {
  const names = [
    '__proto__',
    'constructor',
    'toString',
    '',
    '\ud800',
    'a|b',
    '%',
    'x'.repeat(10_000),
    '\u0000',
  ]

  test.each(names)('%j finds nothing and breaks nothing', async (name) => {
    const host = await serveAgents({ agents: { ask: langgraph(approval()) } })
    const thread = host.thread()
    await thread.start()
    const state = await thread.idle()
    expect(await thread.refused('input.respond', { interrupt_id: name, response: 1 })).toBe(
      'no_such_interrupt',
    )
    expect(await thread.refused('state.fork', { checkpoint_id: name })).toMatch(
      /^(no_such_checkpoint|invalid_argument)$/,
    )
    expect(await thread.refused('agent.getTree', { run_id: name })).toBe('no_such_run')
    if (name !== '')
      expect(await thread.refused('state.get', { namespace: [name] })).toBe('no_such_namespace')
    const at = encodeURIComponent(name.replace('\ud800', '\ufffd').replace('\u0000', '0')) || '%20'
    expect((await thread.get(`/state/${at}`)).status).toBe(404)
    expect((await thread.post(`/runs/${at}/cancel`)).status).toBe(404)
    expect((await thread.post('/history', { before: name })).status).toBe(200)
    expect((await thread.get('/state')).body).toEqual(state)
  })
})
