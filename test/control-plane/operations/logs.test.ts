import { describe, expect, test } from 'vitest'
import { createLogs } from '../../../src/control-plane/logs/create-logs.ts'
import { memoryStore } from '../../../src/index.ts'
import { created, type Served, serve } from '../support/served.ts'

const AT = Date.UTC(2026, 0, 2, 3, 4, 5, 6)
const ANY = '5f0c7d0e-1c2f-4a5b-8c9d-0123456789ab'

/** A deployment with five lines in the log of its servers, a second apart, and three in the build log of its revision. */
async function logged(): Promise<{ served: Served; id: string; revision: string }> {
  const store = memoryStore()
  const served = serve({ store })
  const { id, latest_revision_id: revision } = await created(served)
  const logs = createLogs({ store })
  const levels = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'] as const
  for (const [n, level] of levels.entries()) {
    const runId = n === 3 ? 'run-3' : undefined
    const line = { at: AT + n * 1_000, level, message: `Line ${n}`, revisionId: revision, runId }
    logs.append({ type: 'deploy', deploymentId: id }, line)
    if (n > 2) continue
    logs.append({ type: 'build', deploymentId: id, revisionId: revision }, { ...line, message: `Built ${n}` })
  }
  await logs.close()
  return { served, id, revision }
}

const messages = (lines: readonly { readonly message: string }[]) => lines.map(({ message }) => message)

test('a line has its time, its level, its revision and its run', async () => {
  const { served, id, revision } = await logged()
  const { body } = await served.ask('GET', `/v2/deployments/${id}/revisions/${revision}/logs?type=deploy`)
  expect(body.logs[3]).toEqual({
    id: expect.any(String),
    timestamp: '2026-01-02T03:04:08.006Z',
    level: 'ERROR',
    message: 'Line 3',
    revision_id: revision,
    run_id: 'run-3',
  })
  expect(body.next_offset).toBeNull()
})

describe('the logs of a revision', () => {
  test.each([
    ['type=deploy', [0, 1, 2, 3, 4]],
    ['type=deploy&order=desc', [4, 3, 2, 1, 0]],
    ['type=deploy&limit=2', [0, 1]],
    ['type=deploy&order=desc&limit=2', [4, 3]],
    ['type=deploy&level=ERROR', [3, 4]],
    ['type=deploy&query=LINE%202', [2]],
    ['type=deploy&query=', [0, 1, 2, 3, 4]],
    ['type=deploy&run_id=run-3', [3]],
    ['type=deploy&start_time=2026-01-02T03:04:07.006Z', [2, 3, 4]],
    ['type=deploy&start_time=2026-01-02T04:04:07.006%2B01:00&end_time=2026-01-02T03:04:08.006', [2, 3]],
    [`type=deploy&end_time=${AT + 1_000}`, [0, 1]],
    ['type=deploy&offset=', [0, 1, 2, 3, 4]],
  ])('with %s', async (query, lines) => {
    const { served, id, revision } = await logged()
    const { body } = await served.ask('GET', `/v2/deployments/${id}/revisions/${revision}/logs?${query}`)
    expect(messages(body.logs)).toEqual(lines.map((n) => `Line ${n}`))
  })

  test('go on where the page before ended', async () => {
    const { served, id, revision } = await logged()
    const path = `/v2/deployments/${id}/revisions/${revision}/logs?type=deploy&limit=2`
    const read: string[] = []
    for (let offset = ''; ; ) {
      const { body } = await served.ask('GET', `${path}&offset=${encodeURIComponent(offset)}`)
      read.push(...messages(body.logs))
      if (body.next_offset === null) break
      offset = body.next_offset
    }
    expect(read).toEqual([0, 1, 2, 3, 4].map((n) => `Line ${n}`))
  })

  test.each([
    ['', 'missing', 'type'],
    ['type=x', 'literal_error', 'type'],
    ['type=build&limit=1001', 'less_than_equal', 'limit'],
    ['type=build&level=LOUD', 'literal_error', 'level'],
    ['type=build&start_time=soon', 'datetime_from_date_parsing', 'start_time'],
  ])('with %j are 422', async (query, type, field) => {
    const { served, id, revision } = await logged()
    const { status, body } = await served.ask(
      'GET',
      `/v2/deployments/${id}/revisions/${revision}/logs?${query}`,
    )
    expect(status).toBe(422)
    expect(body.detail).toMatchObject([{ type, loc: ['query', field] }])
  })

  test('with an offset that is none are 400', async () => {
    const { served, id, revision } = await logged()
    const answer = await served.ask(
      'GET',
      `/v2/deployments/${id}/revisions/${revision}/logs?type=deploy&offset=x`,
    )
    expect(answer.status).toBe(400)
  })
})

test('the log of a deployment is that of its servers, and its build log that of its newest revision', async () => {
  const { served, id } = await logged()
  const read = async (query = '') =>
    messages((await served.ask('GET', `/v2/deployments/${id}/logs${query}`)).body.logs)
  expect(await read()).toEqual([0, 1, 2, 3, 4].map((n) => `Line ${n}`))
  expect(await read('?type=build')).toEqual(['Built 0', 'Built 1', 'Built 2'])
  await served.ask('POST', `/v2/deployments/${id}/revisions`)
  expect(await read('?type=build')).toEqual([])
})

test('a deployment without a revision has no build log', async () => {
  const served = serve()
  const { id } = await created(served, {
    source: 'internal_source',
    source_config: {},
    source_revision_config: {},
  })
  const answer = await served.ask('GET', `/v2/deployments/${id}/logs?type=build`)
  expect(answer).toMatchObject({ status: 200, body: { logs: [], next_offset: null } })
})

test('the log list has names of its own for the same', async () => {
  const { served, id, revision } = await logged()
  const read = async (query: string) =>
    (await served.ask('GET', `/v2/deployment-logs?deployment_id=${id}${query}`)).body
  expect(messages((await read('')).items)).toEqual([0, 1, 2, 3, 4].map((n) => `Line ${n}`))
  expect(messages((await read('&log_type=BUILD&sort_order=desc')).items)).toEqual([
    'Built 2',
    'Built 1',
    'Built 0',
  ])
  expect(messages((await read(`&log_type=DEPLOY&revision_id=${revision}&level=CRITICAL`)).items)).toEqual([
    'Line 4',
  ])
  const page = await read('&page_size=3')
  expect(messages(page.items)).toEqual(['Line 0', 'Line 1', 'Line 2'])
  const rest = await read(`&page_size=3&cursor=${encodeURIComponent(page.next_cursor)}`)
  expect([messages(rest.items), rest.next_cursor]).toEqual([['Line 3', 'Line 4'], null])
  expect((await served.ask('GET', '/v2/deployment-logs')).body.detail).toMatchObject([
    { type: 'missing', loc: ['query', 'deployment_id'] },
  ])
  expect((await served.ask('GET', `/v2/deployment-logs?deployment_id=${id}&page_size=101`)).status).toBe(422)
  expect((await served.ask('GET', `/v2/deployment-logs?deployment_id=${id}&revision_id=${ANY}`)).status).toBe(
    404,
  )
})

describe('the routes of version 1', () => {
  test('answer numbers for times, and take numbers and texts', async () => {
    const { served, id, revision } = await logged()
    const read = async (place: string, body?: unknown) =>
      (await served.ask('POST', `/v1/projects/${id}/${place}`, body)).body
    const { logs } = await read('deploy_logs')
    expect(logs[0]).toEqual({ id: expect.any(String), timestamp: AT, level: 'DEBUG', message: 'Line 0' })
    expect(messages((await read('deploy_logs', { start_time: AT + 3_000 })).logs)).toEqual([
      'Line 3',
      'Line 4',
    ])
    const iso = new Date(AT + 1_000).toISOString()
    expect(messages((await read('deploy_logs', { end_time: iso, order: 'desc' })).logs)).toEqual([
      'Line 1',
      'Line 0',
    ])
    expect(
      messages((await read('deploy_logs', { end_time: String(AT), query: 'line', level: 'DEBUG' })).logs),
    ).toEqual(['Line 0'])
    expect(
      messages((await read(`revisions/${revision}/deploy_logs`, { limit: 1, offset: null })).logs),
    ).toEqual(['Line 0'])
    expect(
      messages((await read(`revisions/${revision}/build_logs`, { order: 'asc', limit: 50 })).logs),
    ).toEqual(['Built 0', 'Built 1', 'Built 2'])
  })

  test('refuse what is no time', async () => {
    const { served, id } = await logged()
    const { status, body } = await served.ask('POST', `/v1/projects/${id}/deploy_logs`, {
      start_time: 'soon',
      limit: 0,
    })
    expect(status).toBe(422)
    expect(body.detail.map(({ loc }: { loc: unknown[] }) => loc.join('.'))).toEqual([
      'body.limit',
      'body.start_time',
    ])
  })

  test('give an offset as long as the build goes on, and none at the end of a finished one', async () => {
    const served = serve()
    const { id, latest_revision_id: revision } = await created(served)
    const path = `/v1/projects/${id}/revisions/${revision}/build_logs`
    const before = await served.ask('POST', path, { order: 'asc', limit: 50 })
    expect(before.body).toEqual({ logs: [], next_offset: expect.any(String) })
    await served.work()
    const after = await served.ask('POST', path, { order: 'asc', limit: 50, offset: before.body.next_offset })
    expect(messages(after.body.logs)).toEqual(['prepares with ', 'builds'])
    expect(after.body.next_offset).toBeNull()
    expect((await served.ask('POST', path, { order: 'desc', limit: 30 })).body.logs).toHaveLength(2)
  })
})

test('no line has the value of a secret', async () => {
  const served = serve()
  const { id } = await created(served, { secrets: [{ name: 'A', value: 'hush-hush' }] })
  await served.work()
  const { body } = await served.ask('GET', `/v2/deployments/${id}/logs?type=build`)
  expect(messages(body.logs)[0]).toBe('prepares with ***')
})
