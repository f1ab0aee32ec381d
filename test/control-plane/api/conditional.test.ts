import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createApi } from '../../../src/control-plane/api/create-api.ts'
import { etagOf } from '../../../src/control-plane/api/headers.ts'
import { OPERATIONS } from '../../../src/control-plane/operations/all.ts'
import { memoryStore } from '../../../src/storage/memory/store.ts'
import type { Store } from '../../../src/storage/store/store.ts'
import { STORES } from '../../jobs/runners.ts'
import { moveRevision, openContext, removeRecord } from '../kit.ts'

function open(store: Store = memoryStore()) {
  const opened = openContext(store)
  const api = createApi({
    operations: { below: ['/v2'], load: async () => OPERATIONS },
    context: opened.context,
  })
  onTestFinished(() => api.close())
  async function call(method: string, path: string, asked: Asked = {}) {
    const { body, headers, signal } = asked
    const init = {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }
    const response = await api.fetch(new Request(`http://host${path}`, init), { signal })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      etag: response.headers.get('etag')!,
      body: text === '' ? undefined : JSON.parse(text),
      text,
    }
  }
  return { ...opened, store, call }
}

interface Asked {
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
}

const create = (name: string) => ({
  name,
  source: 'external_docker',
  source_config: { resource_spec: {} },
  source_revision_config: { image_uri: 'registry/image:1' },
  secrets: [{ name: 'TOKEN', value: 'hunter2' }],
})

async function openDeployment(store?: Store) {
  const opened = open(store)
  const { body } = await opened.call('POST', '/v2/deployments', { body: create('one') })
  const path = `/v2/deployments/${body.id}`
  const revision = `${path}/revisions/${body.latest_revision_id}`
  const move = (status: Parameters<typeof moveRevision>[3]) =>
    moveRevision(opened.store, body.id, body.latest_revision_id, status)
  return { ...opened, path, revision, move, id: body.id as string }
}

describe('ETag', () => {
  test('another text has another validator, and the same text the same one', () => {
    const seen = new Set<string>()
    for (let i = 0; i < 20_000; i++)
      seen.add(etagOf(`{"id":"${i}","status":"${i % 3 ? 'BUILDING' : 'QUEUED'}"}`))
    expect(seen.size).toBe(20_000)
    expect(etagOf('a')).toBe(etagOf('a'))
    expect(etagOf('é\ud800')).toMatch(/^"[\da-f]+-[\da-f]{16}"$/)
  })

  test('what the client has already is answered with 304, until it changes', async () => {
    const { call, path, revision, move } = await openDeployment()
    for (const place of [path, revision, `${path}/revisions`, '/v2/deployments']) {
      const first = await call('GET', place)
      expect(first.headers.get('cache-control')).toBe('private, no-cache')
      const again = await call('GET', place, { headers: { 'if-none-match': `"x", W/${first.etag}` } })
      expect([again.status, again.text, again.etag]).toEqual([304, '', first.etag])
      expect(again.headers.get('content-type')).toBeNull()
      expect((await call('GET', place, { headers: { 'if-none-match': '"x"' } })).status).toBe(200)
    }
    const { etag } = await call('GET', revision)
    await move('BUILDING')
    const changed = await call('GET', revision, { headers: { 'if-none-match': etag } })
    expect([changed.status, changed.body.status]).toEqual([200, 'BUILDING'])
    expect(changed.etag).not.toBe(etag)
  })

  test('a change or a deletion of what was read before somebody else changed it is refused', async () => {
    const { call, path } = await openDeployment()
    const { etag } = await call('GET', path)
    const patch = (name: string, ifMatch: string) =>
      call('PATCH', path, { body: { display_name: name }, headers: { 'if-match': ifMatch } })
    const first = await patch('first', etag)
    expect([first.status, first.body.display_name]).toEqual([200, 'first'])
    const late = await patch('late', etag)
    expect([late.status, late.body]).toEqual([
      412,
      {
        detail:
          'It has changed since you read it. Read it again, and send the ETag of that response as If-Match.',
      },
    ])
    expect((await call('GET', path)).body.display_name).toBe('first')
    // The answer of a change has the validator for the next one, and a weak one never matches.
    expect((await patch('weak', `W/${first.etag}`)).status).toBe(412)
    expect((await patch('second', first.etag)).status).toBe(200)
    expect((await patch('any', '*')).status).toBe(200)
    for (const tier of ['resource-tiers', 'deployment-tier']) {
      const body =
        tier === 'resource-tiers' ? { compute_tier: 'SERVERLESS_S' } : { deployment_tier: 'DEDICATED_S' }
      const given = { body, headers: { 'if-match': etag } }
      expect((await call('PATCH', `${path}/${tier}`, given)).status).toBe(412)
    }
    expect((await call('DELETE', path, { headers: { 'if-match': etag } })).status).toBe(412)
    const { etag: now } = await call('GET', path)
    expect((await call('DELETE', path, { headers: { 'if-match': now } })).status).toBe(204)
  })

  test('of two changes of the same state only one is done', async () => {
    const { call, path } = await openDeployment()
    const { etag } = await call('GET', path)
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        call('PATCH', path, { body: { display_name: `name ${i}` }, headers: { 'if-match': etag } }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(412)])
  })

  test('listeners are guarded, too', async () => {
    const { call } = open()
    const body = { compute_type: 'k8s', compute_id: 'c', compute_config: { k8s_namespaces: null } }
    const { body: listener } = await call('POST', '/v2/listeners', { body })
    const path = `/v2/listeners/${listener.id}`
    const { etag } = await call('GET', path)
    const change = { body: { version: '1' }, headers: { 'if-match': etag } }
    expect((await call('PATCH', path, change)).status).toBe(200)
    expect((await call('PATCH', path, change)).status).toBe(412)
    expect((await call('DELETE', path, { headers: { 'if-match': etag } })).status).toBe(412)
    expect((await call('DELETE', path)).status).toBe(204)
  })
})

describe('Prefer: wait', () => {
  const wait = (seconds: number | string, more: Record<string, string> = {}) => ({
    headers: { prefer: `wait=${seconds}`, ...more },
  })

  test.each(STORES)(
    'it answers once the revision is not under way any more, over $name',
    async ({ create }) => {
      const { call, revision, move } = await openDeployment((await create())())
      const waiting = call('GET', revision, wait(20))
      await sleep(30)
      await move('BUILDING')
      await sleep(30)
      await move('BUILD_FAILED')
      const { status, body, headers } = await waiting
      expect([status, body.status, headers.get('preference-applied')]).toEqual([
        200,
        'BUILD_FAILED',
        'wait=20',
      ])
      // It is final now, and there is nothing to wait for.
      const started = performance.now()
      expect((await call('GET', revision, wait(20))).body.status).toBe('BUILD_FAILED')
      expect(performance.now() - started).toBeLessThan(15_000)
    },
  )

  test('with If-None-Match it answers at the next change, and with 304 when the time is over', async () => {
    const { call, revision, move } = await openDeployment()
    const { etag } = await call('GET', revision)
    const over = await call('GET', revision, wait(0, { 'if-none-match': etag }))
    expect([over.status, over.headers.get('preference-applied')]).toEqual([304, 'wait=0'])
    const waiting = call('GET', revision, wait(20, { 'if-none-match': etag }))
    await sleep(20)
    await move('QUEUED')
    expect((await waiting).body.status).toBe('QUEUED')
    // It has changed already.
    expect((await call('GET', revision, wait(20, { 'if-none-match': etag }))).body.status).toBe('QUEUED')
  })

  test('the time is over after as many seconds, and nothing is done in between', async () => {
    const store = memoryStore()
    let reads = 0
    const counting: Store = {
      ...store,
      get: (...args) => {
        reads++
        return store.get(...args)
      },
    }
    const { call, revision } = await openDeployment(counting)
    reads = 0
    const started = performance.now()
    const pollers = await Promise.all(Array.from({ length: 200 }, () => call('GET', revision, wait(1))))
    expect(performance.now() - started).toBeGreaterThan(990)
    expect(new Set(pollers.map(({ status, body }) => `${status} ${body.status}`))).toEqual(
      new Set(['200 CREATING']),
    )
    // Each has read the revision before it waited, and once more at the end.
    expect(reads).toBe(200 * 2)
  })

  test('it takes 60 seconds at most, other preferences beside it, and ignores what it does not understand', async () => {
    const { call, revision, move } = await openDeployment()
    await move('DEPLOYED')
    const applied = async (prefer: string) =>
      (await call('GET', revision, { headers: { prefer } })).headers.get('preference-applied')
    expect(await applied('wait=100000')).toBe('wait=60')
    expect(await applied('respond-async, Wait = "7"; foo=bar')).toBe('wait=7')
    for (const prefer of ['wait', 'wait=-1', 'wait=x', 'wait=1.5', 'return=minimal', ''])
      expect(await applied(prefer)).toBeNull()
  })

  test('a client that leaves, a server that closes and a deployment that is deleted end it', async () => {
    const { call, revision, close, store, id } = await openDeployment()
    const gone = new AbortController()
    const left = call('GET', revision, { ...wait(60), signal: gone.signal })
    const deleted = call('GET', revision, wait(60))
    await sleep(20)
    gone.abort()
    expect((await left).status).toBe(200)
    await removeRecord(store, id)
    expect((await deleted).status).toBe(404)

    const other = await openDeployment()
    const closed = other.call('GET', other.revision, wait(60))
    await sleep(20)
    other.close()
    expect((await closed).body.status).toBe('CREATING')
    close()
  })
})

describe('Idempotency-Key', () => {
  const keyed = (key: string, body?: unknown) => ({ body, headers: { 'idempotency-key': key } })

  test.each(STORES)(
    'a request that is sent again makes nothing more, over $name',
    async ({ create: open }) => {
      const { call, revision, path } = await openDeployment((await open())())
      const places: readonly (readonly [string, unknown])[] = [
        ['/v2/deployments', create('two')],
        [`${path}/revisions`, { source_revision_config: { image_uri: 'registry/image:2' } }],
        [`${revision}/redeploy`, undefined],
      ]
      for (const [place, body] of places) {
        const answers = [
          ...(await Promise.all([1, 2, 3].map(() => call('POST', place, keyed('key-1', body))))),
          await call('POST', place, keyed('key-1', body)),
        ]
        expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1)
        expect(answers[0]!.status).toBe(place.endsWith('redeploy') ? 200 : 201)
      }
      expect((await call('GET', '/v2/deployments')).body.resources).toHaveLength(2)
      // The first one, the one that was made and the redeployed one.
      expect((await call('GET', `${path}/revisions`)).body.resources).toHaveLength(3)
      // Another key is another request.
      expect((await call('POST', `${revision}/redeploy`, keyed('key-2'))).status).toBe(200)
      expect((await call('GET', `${path}/revisions`)).body.resources).toHaveLength(4)
    },
  )

  test('a revision of a change is made once', async () => {
    const { call, path } = await openDeployment()
    const body = { source_revision_config: { image_uri: 'registry/image:2' } }
    const answers = [
      await call('PATCH', path, keyed('key', body)),
      await call('PATCH', path, keyed('key', body)),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(answers[0]!.body.latest_revision_id).toBe(answers[1]!.body.latest_revision_id)
    expect((await call('GET', `${path}/revisions`)).body.resources).toHaveLength(2)
  })

  test('another request with the same key is refused, and the key of one caller is not that of another', async () => {
    const { call, path } = await openDeployment()
    await call('POST', '/v2/deployments', keyed('key', create('two')))
    const other = await call('POST', '/v2/deployments', keyed('key', create('three')))
    expect([other.status, other.body.detail]).toEqual([
      409,
      'This Idempotency-Key was used for another request. Use a new key for a new request.',
    ])
    // For another operation it is another key.
    expect((await call('POST', `${path}/revisions`, keyed('key', {}))).status).toBe(201)
    for (const key of ['', 'a b', 'é', 'x'.repeat(256)]) {
      const refused = await call('POST', '/v2/deployments', keyed(key, create('four')))
      expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining('Idempotency-Key')])
    }
  })

  test('what is stored of a request tells nothing of its secrets', async () => {
    const { call, store } = open()
    await call('POST', '/v2/deployments', keyed('key', create('two')))
    const { docs } = await store.list('deployments')
    const stored = JSON.stringify(docs)
    expect(stored).not.toContain('hunter2')
    expect(docs[0]!.value).toMatchObject({ fingerprint: expect.stringMatching(/^[\w-]{43}$/) })
  })
})
