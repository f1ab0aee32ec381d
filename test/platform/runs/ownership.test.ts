import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { RUN_ROUTES } from '../../../src/faces/rest/runs/routes.ts'
import { type Authenticate, type Authorize, defineAgent, type Principal } from '../../../src/index.ts'
import { request } from '../../kit/client.ts'
import { serveAgents } from '../../kit/host.ts'

const PEOPLE: Readonly<Record<string, Principal>> = {
  ann: { id: 'ann', tenant: 'acme' },
  art: { id: 'art', tenant: 'acme' },
  bob: { id: 'bob' },
}

const authenticate: Authenticate = ({ headers }) => PEOPLE[headers.get('authorization') ?? ''] ?? null

const agent = defineAgent({
  run: async ({ signal }) => {
    await sleep(60_000, undefined, { signal })
    return { secret: 'private' }
  },
})

/** One request for every route, of who knows all ids, and what another owner is answered. */
const REQUESTS: Readonly<Record<string, { readonly body?: object; readonly others: number }>> = {
  'POST /threads/:thread_id/runs': { body: { assistant_id: 'a' }, others: 404 },
  'POST /threads/:thread_id/runs/wait': { body: { assistant_id: 'a' }, others: 404 },
  'POST /threads/:thread_id/runs/stream': { body: { assistant_id: 'a' }, others: 404 },
  'GET /threads/:thread_id/runs': { others: 404 },
  'GET /threads/:thread_id/runs/:run_id': { others: 404 },
  'GET /threads/:thread_id/runs/:run_id/join': { others: 404 },
  // The status is told in the stream.
  'GET /threads/:thread_id/runs/:run_id/stream': { others: 200 },
  'POST /runs/cancel': { body: { thread_id: ':thread_id', run_ids: [':run_id'] }, others: 404 },
  'DELETE /threads/:thread_id/runs/:run_id': { others: 404 },
}

/** The same of a run with a thread of its own. */
const OWN_RUN_REQUESTS: typeof REQUESTS = {
  'GET /runs/:run_id': { others: 404 },
  'GET /runs/:run_id/join': { others: 404 },
  'GET /runs/:run_id/stream': { others: 200 },
  'POST /runs/:run_id/cancel': { body: {}, others: 404 },
  'DELETE /runs/:run_id': { others: 404 },
}

/** Their runs have threads of their own: there is nothing of another owner that they could name. */
const OWN_THREADS = ['POST /runs', 'POST /runs/wait', 'POST /runs/stream', 'POST /runs/batch']

const ROUTES = RUN_ROUTES.map(({ method, path }) => `${method} ${path}`)

test('every route of runs is in the tables', () => {
  const known = [...Object.keys({ ...REQUESTS, ...OWN_RUN_REQUESTS }), ...OWN_THREADS]
  expect(ROUTES.filter((route) => !known.includes(route))).toEqual([])
})

async function annsRun(authorize?: Authorize) {
  const host = await serveAgents({ agents: { a: agent }, authenticate, authorize })
  const ask = (who: string, method: string, path: string, body?: object) =>
    request(host.origin, method, path, body, { authorization: who })
  await ask('ann', 'POST', '/threads', { thread_id: 'anns' })
  const made = await ask('ann', 'POST', '/threads/anns/runs', {
    assistant_id: 'a',
    input: { key: 'private' },
  })
  const own = await ask('ann', 'POST', '/runs', { assistant_id: 'a', input: { key: 'private' } })
  const send = (who: string, route: string) => {
    const [method = '', pattern = ''] = route.split(' ')
    const named = (text: string) =>
      text
        .replaceAll(':thread_id', 'anns')
        .replaceAll(':run_id', (route in OWN_RUN_REQUESTS ? own : made).body.run_id)
    const one = { assistant_id: 'a' }
    const { body = method === 'POST' ? (pattern.endsWith('/batch') ? [one] : one) : undefined } =
      { ...REQUESTS, ...OWN_RUN_REQUESTS }[route] ?? {}
    return ask(who, method, named(pattern), body && JSON.parse(named(JSON.stringify(body))))
  }
  return { send, run: made.body, own: own.body, ask }
}

test('runs of another owner look unknown, and stay as they are', async () => {
  const { send, run, own, ask } = await annsRun()
  for (const [route, { others }] of Object.entries({ ...REQUESTS, ...OWN_RUN_REQUESTS })) {
    const answer = await send('bob', route)
    expect([route, answer.status]).toEqual([route, others])
    expect(JSON.stringify(answer.body)).not.toContain('private')
    const nobody = await send('nobody', route)
    expect([route, nobody.status]).toEqual([route, 401])
  }
  await ask('bob', 'POST', '/runs/cancel?action=rollback', { status: 'all' })
  const { body } = await ask('art', 'GET', `/threads/anns/runs/${run.run_id}`)
  expect(body).toMatchObject({ status: 'running', kwargs: { input: { key: 'private' } } })
  expect((await ask('ann', 'GET', '/threads/anns/runs')).body).toHaveLength(1)
  expect((await ask('art', 'GET', `/runs/${own.run_id}`)).body.status).toBe('running')
})

test('the permission of each route is asked for before anything is read', async () => {
  const asked: unknown[] = []
  const { send, run, own } = await annsRun((_, action, resource) => {
    if (asked.length > 0) asked.push([action, resource.assistantId, resource.threadId])
    return asked.length === 0
  })
  asked.push('from here on')
  for (const route of ROUTES) expect([route, (await send('ann', route)).status]).toEqual([route, 403])
  const actions = RUN_ROUTES.map(({ method, path: pattern, permission }) => [
    pattern.endsWith('/batch') ? 'runs:create' : permission,
    method === 'POST' && !/cancel/.test(pattern) ? 'a' : undefined,
    /thread_id|^\/runs\/cancel/.test(pattern) ? 'anns' : pattern.includes('run_id') ? own.run_id : undefined,
  ])
  expect(asked.slice(1)).toEqual(actions)
  expect(run.status).toBe('running')
})
