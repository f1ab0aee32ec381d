/** What Studio asks of a server, with the official client, under the rules of a browser for a page on the internet. */
import { AIMessage } from '@langchain/core/messages'
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { Client } from '@langchain/langgraph-sdk'
import { expect, onTestFinished, test } from 'vitest'
import { serve } from '../../adapters/node.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { createAgentServer } from '../../src/index.ts'
import { read } from './fences.ts'

const STUDIO = 'https://smith.langchain.com'

const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', () => ({ messages: [new AIMessage('Hello there')] }))
  .addEdge('__start__', 'answer')
  .compile()

/** `fetch` of a page: a preflight that must allow all of the request, then the request (Fetch standard, §3.2 and §4.8). */
async function fetchAsPage(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init)
  const own = [...request.headers.keys()].filter((name) => name !== 'accept').toSorted()
  const preflight = await fetch(request.url, {
    method: 'OPTIONS',
    headers: {
      origin: STUDIO,
      'access-control-request-method': request.method,
      'access-control-request-headers': own.join(),
      'access-control-request-private-network': 'true',
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'cors',
    },
  })
  const list = (name: string) => (preflight.headers.get(`access-control-${name}`) ?? '').split(/, ?/)
  const where = `${request.method} ${new URL(request.url).pathname}`
  expect([where, preflight.status]).toEqual([where, 204])
  expect([where, list('allow-origin')]).toEqual([where, [STUDIO]])
  expect([where, list('allow-private-network')]).toEqual([where, ['true']])
  expect([where, list('allow-methods')]).toEqual([where, expect.arrayContaining([request.method])])
  expect([where, own.filter((name) => !list('allow-headers').includes(name))]).toEqual([where, []])
  const headers = new Headers(request.headers)
  for (const [name, value] of [
    ['origin', STUDIO],
    ['sec-fetch-site', 'cross-site'],
    ['sec-fetch-mode', 'cors'],
  ] as const)
    headers.set(name, value)
  const response = await fetch(new Request(request, { headers }))
  expect([where, response.headers.get('access-control-allow-origin')]).toEqual([where, STUDIO])
  return response
}

test('every route that docs/studio.md lists answers a page of Studio', async () => {
  const server = createAgentServer({
    agents: { agent: langgraph(graph) },
    http: { cors: { origins: [STUDIO] } },
  })
  const served = await serve(server, { port: 0, silent: true })
  onTestFinished(() => served.close())
  const asked = new Set<string>()
  const client = new Client({
    apiUrl: served.origin,
    defaultHeaders: { 'x-auth-scheme': 'langsmith' },
    callerOptions: {
      maxRetries: 0,
      fetch: (input: string | URL | Request, init?: RequestInit) => {
        const { method, url } = new Request(input, init)
        asked.add(`${method} ${new URL(url).pathname}`)
        return fetchAsPage(input, init)
      },
    },
  })
  const info = await fetchAsPage(`${served.origin}/info`)
  expect(await info.json()).toMatchObject({ version: expect.any(String) })
  asked.add('GET /info')

  const [assistant] = await client.assistants.search({ limit: 100 })
  const id = assistant!.assistant_id
  expect((await client.assistants.getGraph(id, { xray: true })).nodes).toContainEqual(
    expect.objectContaining({ id: 'answer' }),
  )
  expect(await client.assistants.getSchemas(id)).toHaveProperty('state_schema')
  await client.assistants.getSubgraphs(id)

  const { thread_id } = await client.threads.create()
  const input = { messages: [{ type: 'human', content: 'Hello' }] }
  const modes = new Set<string>()
  for await (const { event } of client.runs.stream(thread_id, id, {
    input,
    streamMode: ['values', 'messages-tuple', 'debug'],
    streamSubgraphs: true,
    interruptBefore: [],
  }))
    modes.add(event)
  expect([...modes]).toEqual(expect.arrayContaining(['metadata', 'values', 'debug']))
  expect((await client.threads.getState(thread_id)).values).toMatchObject({
    messages: [{}, { content: 'Hello there' }],
  })
  const history = await client.threads.getHistory(thread_id)
  expect(history.length).toBeGreaterThan(1)
  await client.threads.updateState(thread_id, { values: { messages: [] } })
  await client.threads.search({ limit: 10 })
  await client.threads.delete(thread_id)

  const named = [...asked].map((route) =>
    route
      .replace(thread_id, '{thread_id}')
      .replace(/(?<=\/runs\/)[\w-]{36}$/, '{run_id}')
      .replace(id, '{assistant_id}'),
  )
  const listed = [...read('docs/studio.md').matchAll(/`((?:GET|POST|DELETE) \/[\w/{}]+)`/g)].map(
    ([, route]) => route,
  )
  expect(listed.toSorted()).toEqual(named.toSorted())
})
