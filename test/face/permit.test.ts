import { randomUUID } from 'node:crypto'
import { Auth } from '@langchain/langgraph-sdk/auth'
import { describe, expect, test } from 'vitest'
import { openAi } from '../../src/faces/openai/index.ts'
import { langgraphAuth } from '../../src/faces/rest/index.ts'
import { defineAgent } from '../../src/index.ts'
import { request } from '../kit/client.ts'
import { serveAgents } from '../kit/host.ts'

/** Everything belongs to the user who made it, as LangGraph's guide to authentication writes it. */
const auth = new Auth()
  .authenticate(async (incoming) => ({
    identity: incoming.headers.get('authorization') ?? '',
    permissions: [],
  }))
  .on('*', ({ value, user }) => {
    const own = { owner: user.identity }
    if (typeof value === 'object' && value !== null && 'metadata' in value)
      (value as { metadata: object }).metadata = { ...(value.metadata as object), ...own }
    return own
  })

const agent = defineAgent({ run: async ({ message }) => void (await message('done')) })

async function served() {
  const { origin } = await serveAgents({
    agents: { agent },
    ...langgraphAuth(auth),
    devtools: { isOperator: () => true },
    faces: [openAi()],
  })
  return (user: string) => (method: string, path: string, body?: unknown) =>
    request(origin, method, path, body, { authorization: user })
}

describe('a private assistant', () => {
  test.each(['/runs', '/runs/wait', '/runs/stream', '/runs/batch'])(
    'is not there for another user of POST %s',
    async (path) => {
      const as = await served()
      const made = await as('ann')('POST', '/assistants', { graph_id: 'agent', context: { key: 'private' } })
      const run = { assistant_id: made.body.assistant_id, input: {} }
      const body = path.endsWith('batch') ? [run] : run
      const { status, body: told } = await as('eve')('POST', path, body)
      expect(status).toBe(404)
      expect(JSON.stringify(told)).not.toContain('private')
      expect((await as('ann')('POST', path, body)).status).toBe(200)
    },
  )
})

describe('metadata that a handler sets', () => {
  test('are kept when a conversation changes, so that nobody gives it away', async () => {
    const as = await served()
    const { body } = await as('ann')('POST', '/v1/conversations', { metadata: { topic: 'a' } })
    const path = `/v1/conversations/${body.id}`
    const patched = await as('ann')('POST', path, { metadata: { owner: 'eve', topic: 'b' } })
    expect(patched.body.metadata).toEqual({ owner: 'ann', topic: 'b' })
    expect((await as('eve')('GET', path)).status).toBe(404)
    expect((await as('ann')('GET', path)).status).toBe(200)
  })

  test('reach a thread that the devtools create', async () => {
    const as = await served()
    const id = randomUUID()
    expect((await as('ann')('POST', `/devtools/api/threads/${id}/runs`, { input: {} })).status).toBe(200)
    expect((await as('ann')('GET', `/threads/${id}`)).body).toMatchObject({ metadata: { owner: 'ann' } })
    expect((await as('eve')('GET', `/threads/${id}`)).status).toBe(404)
  })

  test('reach the copy of a thread', async () => {
    const as = await served()
    const { body } = await as('ann')('POST', '/threads', {})
    const copy = await as('ann')('POST', `/threads/${body.thread_id}/copy`)
    expect(copy.body.metadata).toMatchObject({ owner: 'ann' })
  })
})
