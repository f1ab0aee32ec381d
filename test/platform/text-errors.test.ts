import { Client } from '@langchain/langgraph-sdk'
import { expect, test } from 'vitest'
import { defineAgent } from '../../src/index.ts'
import { serveAgents } from '../kit/host.ts'

const agents = { echo: defineAgent({ run: async ({ input }) => ({ said: input }) }) }
const NOBODY = '00000000-0000-4000-8000-000000000000'

async function serve(accept: string) {
  const host = await serveAgents({ agents })
  const callerOptions = { maxRetries: 0 }
  const client = new Client({ apiUrl: host.origin, apiKey: null, callerOptions, defaultHeaders: { accept } })
  return { ...host, client }
}

test('a client that asks for text gets the bare sentence of an error, as from LangGraph’s own server', async () => {
  const { client, origin } = await serve('text/plain')
  await expect(client.assistants.get(NOBODY)).rejects.toThrow('HTTP 404: Assistant not found')
  await expect(client.threads.get(NOBODY)).rejects.toThrow(`HTTP 404: Thread with ID ${NOBODY} not found`)
  await expect(client.runs.wait(null, 'nobody', { input: {} })).rejects.toThrow(
    'HTTP 404: No assistant found',
  )
  await expect(client.threads.search({ limit: -1 })).rejects.toThrow(/^HTTP 400: [^{]*limit/)
  const { thread_id } = await client.threads.create()
  expect(await client.threads.get(thread_id)).toMatchObject({ thread_id })
  const answer = await fetch(`${origin}/threads/${NOBODY}`, {
    headers: { accept: 'text/plain;q=0.9, text/html' },
  })
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(await answer.text()).toBe(`Thread with ID ${NOBODY} not found`)
})

test.each(['*/*', 'application/json', 'text/plain, application/json', 'text/plain, */*;q=0.1', 'text/html'])(
  'errors are JSON for a client that accepts %s',
  async (accept) => {
    const { client } = await serve(accept)
    const body = JSON.stringify({ error: 'not_found', message: 'Assistant not found' })
    await expect(client.assistants.get(NOBODY)).rejects.toThrow(`HTTP 404: ${body}`)
  },
)

test('a thread that is not there, or another owner’s, cannot be copied: 409 as from LangGraph’s own server', async () => {
  const host = await serveAgents({ agents, authenticate: ({ headers }) => ({ id: headers.get('x-user')! }) })
  const as = (user: string) => {
    const defaultHeaders = { 'x-user': user, accept: 'text/plain' }
    return new Client({ apiUrl: host.origin, apiKey: null, callerOptions: { maxRetries: 0 }, defaultHeaders })
  }
  const { thread_id } = await as('ann').threads.create()
  await expect(as('bob').threads.copy(thread_id)).rejects.toThrow('HTTP 409: Thread not found')
  await expect(as('bob').threads.copy(NOBODY)).rejects.toThrow('HTTP 409: Thread not found')
  expect(await as('bob').threads.search()).toEqual([])
  expect(await as('ann').threads.copy(thread_id)).toMatchObject({ status: 'idle' })
})
