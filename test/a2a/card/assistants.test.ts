import { ClientFactory } from '@a2a-js/sdk/client'
import { Client } from '@langchain/langgraph-sdk'
import { ClientFactory as ClientFactory03 } from 'a2a-sdk-03/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serve as listen } from '../../../adapters/node.ts'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { chat } from '../../fixtures/graphs.ts'
import { DATABASES } from '../../kit/databases.ts'
import type { Json } from '../../kit/events.ts'
import { answerOf, byToken, clientOf, serve } from '../served.ts'
import { WELL_KNOWN } from './cards.ts'

const SKILL = { id: 'sum', name: 'Sum', description: 'Adds.', tags: ['maths'] }
const agents = (more: object = {}) => ({
  graph: langgraph(
    chat(() => ({ text: 'Hello.' })),
    { description: 'The graph itself.', ...more },
  ),
})

type Options = Parameters<typeof serve>[1]

/** A server with an assistant that Ann, or anybody, has made over the REST. */
async function served(options: Options = {}, fields: object = {}, more: object = {}) {
  const { server, engine, errors } = serve(agents(more), options)
  const { port, close } = await listen(server, { port: 0, silent: true })
  onTestFinished(close)
  const origin = `http://127.0.0.1:${port}`
  const rest = (token: string) =>
    new Client({ apiUrl: origin, apiKey: null, defaultHeaders: { authorization: `Bearer ${token}` } })
  const made = await rest('ann').assistants.create({
    graphId: 'graph',
    name: 'Tutor',
    description: 'Explains.',
    ...fields,
  })
  const id = made.assistant_id
  const paths = [`/a2a/${id}`, `/a2a/${id}${WELL_KNOWN}`, `${WELL_KNOWN}?assistant_id=${id}`]
  const ask = (path: string, headers: Record<string, string> = {}) => fetch(origin + path, { headers })
  return { server, engine, errors, origin, id, paths, ask, rest }
}

const as = (token: string) => ({ authorization: `Bearer ${token}` })

describe.each(Object.keys(DATABASES))('over %s', (name) => {
  test('an assistant that was made has its own card, at all three addresses, in both versions', async () => {
    const { id, origin, paths, ask, errors } = await served(await (await DATABASES[name]!())())
    const url = `${origin}/a2a/${id}`
    for (const path of paths) {
      const old = await (await ask(path, { 'a2a-version': '0.3' })).json()
      expect(old).toMatchObject({ name: 'Tutor', description: 'Explains.', url })
      expect(old.skills).toMatchObject([{ id: `${id}-main`, name: 'Tutor', description: 'Explains.' }])
      const now = await (await ask(path, { 'a2a-version': '1.0' })).json()
      expect(now).toMatchObject({ name: 'Tutor', description: 'Explains.' })
      expect(now.supportedInterfaces.map((one: Json) => one.url)).toEqual([url, url])
    }
    expect(errors).toEqual([])
  })
})

test('the graph keeps its card, also by the UUID of its own assistant', async () => {
  const { origin, ask, rest } = await served()
  const [own] = await rest('ann').assistants.search({ graphId: 'graph', metadata: { created_by: 'system' } })
  for (const name of ['graph', own!.assistant_id])
    expect(await (await ask(`/a2a/${name}`)).json()).toMatchObject({
      name: 'graph',
      description: 'The graph itself.',
      url: `${origin}/a2a/graph`,
    })
})

test('what the assistant does not say of itself, the graph does', async () => {
  const { ask, paths } = await served(
    {},
    { description: undefined },
    { skills: [SKILL], inputModes: ['text/plain'] },
  )
  expect(await (await ask(paths[0]!)).json()).toMatchObject({
    name: 'Tutor',
    description: 'The graph itself.',
    skills: [SKILL],
    defaultInputModes: ['text/plain'],
  })
})

test('a changed assistant has a changed card', async () => {
  const { ask, paths, rest, id } = await served()
  const before = (await ask(paths[0]!)).headers.get('etag')
  await rest('ann').assistants.update(id, { graphId: 'graph', name: 'Teacher' })
  const after = await ask(paths[0]!, { 'if-none-match': before! })
  expect(await after.json()).toMatchObject({ name: 'Teacher' })
})

describe('with authentication', () => {
  test('its owner gets the card, and nobody else', async () => {
    const { ask, paths, errors } = await served({ authenticate: byToken })
    for (const path of paths) {
      const hers = await ask(path, as('ann'))
      expect([hers.status, (await hers.json()).name]).toEqual([200, 'Tutor'])
      expect(hers.headers.get('cache-control')).toBe('private, max-age=3600')
      const his = await ask(path, as('bob'))
      expect([his.status, (await his.json()).error]).toEqual([404, 'not_found'])
      const nobodys = await ask(path)
      expect([nobodys.status, nobodys.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
      expect(await nobodys.text()).not.toContain('Tutor')
    }
    expect(errors).toEqual([])
  })

  test('an id that nobody has is answered as one of somebody else', async () => {
    const { ask, paths, id } = await served({ authenticate: byToken })
    const unknown = '0b0c9ad4-5a4e-4c8e-9a3b-0f6f3f0d9c11'
    for (const path of paths)
      for (const headers of [{}, as('bob')]) {
        const [there, nowhere] = [await ask(path, headers), await ask(path.replace(id, unknown), headers)]
        expect([nowhere.status, await nowhere.text()]).toEqual([there.status, await there.text()])
      }
  })

  test('the cards of graphs stay public, under their names and the UUIDs of their own assistants', async () => {
    const { ask, rest } = await served({ authenticate: byToken })
    const [own] = await rest('ann').assistants.search({
      graphId: 'graph',
      metadata: { created_by: 'system' },
    })
    for (const path of ['/a2a/graph', WELL_KNOWN, `/a2a/${own!.assistant_id}`]) {
      const { status, headers } = await ask(path)
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=3600'])
    }
  })

  test('reading the assistant is asked of authorize', async () => {
    const asked: Json[] = []
    const { ask, paths, id } = await served({
      authenticate: byToken,
      authorize: (principal, action, { assistantId }) => {
        asked.push([principal?.id, action, assistantId])
        return action !== 'assistants:read'
      },
    })
    asked.length = 0
    expect((await ask(paths[0]!, as('ann'))).status).toBe(403)
    expect(asked).toEqual([['ann', 'assistants:read', id]])
    expect((await ask('/a2a/graph')).status).toBe(200)
  })

  test('both official clients come from its card to its agent', async () => {
    const { origin, id, engine } = await served({ authenticate: byToken })
    const fetchImpl: typeof fetch = (input, init) => {
      const headers = new Headers(init?.headers)
      headers.set('authorization', 'Bearer ann')
      return fetch(input, { ...init, headers })
    }
    const { DefaultAgentCardResolver, JsonRpcTransportFactory } = await import('@a2a-js/sdk/client')
    const client = await new ClientFactory({
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    }).createFromUrl(origin, `/a2a/${id}`)
    expect((await client.getAgentCard()).name).toBe('Tutor')
    const old = await import('a2a-sdk-03/client')
    const client03 = await new ClientFactory03({
      transports: [new old.JsonRpcTransportFactory({ fetchImpl })],
      cardResolver: new old.DefaultAgentCardResolver({ fetchImpl }),
    }).createFromUrl(origin, `/a2a/${id}`)
    const task = await client03.sendMessage({
      message: { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'Hi' }] },
    })
    expect(answerOf(task)).toBe('Hello.')
    const principal = { id: 'ann' }
    const { contextId } = task as Json
    expect((await engine.findThread({ threadId: contextId, principal }))?.metadata).toBeDefined()
  })
})

test('the extended card is made out of its own card', async () => {
  const seen: Json[] = []
  const { server, id } = await served({
    authenticate: byToken,
    a2a: {
      card: {
        extended: (card, caller) => {
          seen.push(caller.assistantId)
          return { ...card, description: `${card.name} for ${caller.principal?.id}` }
        },
      },
    },
  })
  const client = clientOf(server, { assistant: id, version: '0.3', token: 'ann' })
  const { result } = await client.post(client.body('agent/getAuthenticatedExtendedCard', {}))
  expect(result).toMatchObject({ name: 'Tutor', description: 'Tutor for ann' })
  expect(result.url).toContain(`/a2a/${id}`)
  expect(seen).toEqual([id])
})
