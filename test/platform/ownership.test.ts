import { expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { createPlatformGroup } from '../../src/faces/rest/face.ts'
import { approval } from '../fixtures/graphs.ts'
import { request } from '../kit/client.ts'
import { serveAgents } from '../kit/host.ts'

const run = { assistant_id: 'ask' }
const cron = { ...run, schedule: '0 0 29 2 *' }
const item = { namespace: ['private'], key: 'k' }

/** What Bob is answered, who knows all ids of what Ann has: the status, and the body where he gets one. */
const ANSWERS: Readonly<Record<string, readonly [sent: unknown, status: number, body?: unknown]>> = {
  'POST /assistants/search': [{ metadata: { of: 'ann' } }, 200, []],
  'POST /assistants/count': [{ metadata: { of: 'ann' } }, 200, 0],
  'GET /assistants/:assistant_id': [undefined, 404],
  'PATCH /assistants/:assistant_id': [{ name: 'mine' }, 404],
  'DELETE /assistants/:assistant_id': [undefined, 404],
  'GET /assistants/:assistant_id/graph': [undefined, 404],
  'GET /assistants/:assistant_id/schemas': [undefined, 404],
  'GET /assistants/:assistant_id/subgraphs': [undefined, 404],
  'GET /assistants/:assistant_id/subgraphs/:namespace': [undefined, 404],
  'POST /assistants/:assistant_id/versions': [{}, 404],
  'POST /assistants/:assistant_id/latest': [{ version: 1 }, 404],
  'POST /threads/:thread_id/runs': [run, 404],
  'POST /threads/:thread_id/runs/wait': [run, 404],
  'POST /threads/:thread_id/runs/stream': [run, 404],
  'GET /threads/:thread_id/runs': [undefined, 404],
  'GET /threads/:thread_id/runs/:run_id': [undefined, 404],
  'DELETE /threads/:thread_id/runs/:run_id': [undefined, 404],
  'GET /threads/:thread_id/runs/:run_id/join': [undefined, 404],
  'GET /threads/:thread_id/runs/:run_id/stream': [undefined, 200],
  'GET /runs/:run_id': [undefined, 404],
  'DELETE /runs/:run_id': [undefined, 404],
  'GET /runs/:run_id/join': [undefined, 404],
  'GET /runs/:run_id/stream': [undefined, 200],
  'POST /runs/:run_id/cancel': [undefined, 404],
  'GET /threads/:thread_id/stream': [undefined, 404],
  'POST /runs/cancel': [{ thread_id: ':thread_id', run_ids: [':run_id'] }, 404],
  'POST /threads/:thread_id/runs/crons': [cron, 404],
  'PATCH /runs/crons/:cron_id': [{ enabled: false }, 404],
  'DELETE /runs/crons/:cron_id': [undefined, 404],
  'POST /runs/crons/search': [{}, 200, []],
  'POST /runs/crons/count': [{}, 200, 0],
  'GET /store/items': [undefined, 200, null],
  'POST /store/items/search': [{ namespace_prefix: [] }, 200, { items: [] }],
  'POST /store/namespaces': [{}, 200, { namespaces: [] }],
  'DELETE /store/items': [item, 204],
}

/** They make something of the caller's own, or are the same for everybody. */
const OWN = [
  'GET /ok',
  'GET /info',
  'POST /assistants',
  'POST /runs',
  'POST /runs/wait',
  'POST /runs/stream',
  'POST /runs/batch',
  'POST /runs/crons',
  'PUT /store/items',
]

test('of every route of the platform, another owner gets nothing and changes nothing', async () => {
  const host = await serveAgents({
    agents: { ask: langgraph(approval()) },
    authenticate: ({ headers }) => ({ id: headers.get('authorization') ?? 'nobody' }),
  })
  const routes = await createPlatformGroup({ engine: host.server.engine }).routes()
  expect(routes.map(([method, pattern]) => `${method} ${pattern}`).sort()).toEqual(
    [...Object.keys(ANSWERS), ...OWN].sort(),
  )
  const as = (who: string) => async (method: string, path: string, body?: unknown) =>
    request(host.origin, method, path, body, { authorization: who })
  const [ann, bob] = [as('ann'), as('bob')]
  const { body: thread } = await ann('POST', '/threads', {})
  const path = `/threads/${thread.thread_id}`
  const { body: assistant } = await ann('POST', '/assistants', { graph_id: 'ask', metadata: { of: 'ann' } })
  await ann('POST', `${path}/runs/wait`, { ...run, input: { notes: ['secret'] } })
  const { body: runs } = await ann('GET', `${path}/runs`)
  const { body: made } = await ann('POST', '/runs/crons', cron)
  await ann('PUT', '/store/items', { ...item, value: { text: 'secret' } })
  const named = (text: string) =>
    text
      .replaceAll(':thread_id', thread.thread_id)
      .replaceAll(':run_id', runs[0].run_id)
      .replaceAll(':assistant_id', assistant.assistant_id)
      .replaceAll(':cron_id', made.cron_id)
      .replaceAll(':namespace', 'x')
  const owned = () =>
    Promise.all([
      ann('GET', path),
      ann('GET', `${path}/state`),
      ann('GET', `${path}/runs`),
      ann('POST', '/assistants/search', { metadata: { of: 'ann' } }),
      ann('POST', '/runs/crons/search', {}),
      ann('GET', '/store/items?namespace=private&key=k'),
    ]).then((answers) => answers.map(({ status, body }) => [status, body]))
  const before = await owned()
  for (const [route, [sent, status, expected]] of Object.entries(ANSWERS)) {
    const [method = '', pattern = ''] = route.split(' ')
    const query = route === 'GET /store/items' ? '?namespace=private&key=k' : ''
    const body = sent && JSON.parse(named(JSON.stringify(sent)))
    const answer = await bob(method, named(pattern) + query, body)
    expect([route, answer.status]).toEqual([route, status])
    if (expected !== undefined) expect([route, answer.body]).toEqual([route, expected])
    expect(JSON.stringify(answer.body) ?? '').not.toContain('secret')
  }
  expect(await owned()).toEqual(before)
})
