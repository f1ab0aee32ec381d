import { createHmac, randomBytes } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { eventType, WEBHOOK_EVENT_TYPES } from '../../../src/control-plane/events/webhooks/events.ts'
import { createWebhooks, type WebhookOptions } from '../../../src/control-plane/events/webhooks/webhooks.ts'
import { DEPLOYMENT_STATUSES, REVISION_STATUSES } from '../../../src/control-plane/records/records.ts'
import { DEPLOYMENTS, partitionOf, statusOp } from '../../../src/control-plane/records/stored.ts'
import type { Store } from '../../../src/storage/store/store.ts'
import { STORES, TIMES } from '../../jobs/runners.ts'
import { eventually } from '../../kit/wait.ts'
import { moveRevision, newDeployment, newRevision, openContext } from '../kit.ts'

interface Message {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly told: { readonly type: string; readonly status: string }
}

/** A receiver on this machine. `answer` gives the status of each answer. */
async function receiver(answer: (message: Message) => number = () => 204) {
  const messages: Message[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      const message = { headers: request.headers, body, told: JSON.parse(body) }
      const status = answer(message)
      if (status < 300) messages.push(message)
      response.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, messages }
}

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

function open(store: Store, webhooks: readonly WebhookOptions[], { allowLoopback = true } = {}) {
  const reported: unknown[] = []
  const told = createWebhooks({
    store,
    webhooks,
    allowLoopback,
    times: TIMES,
    onError: (error) => reported.push(error),
  })
  onTestFinished(() => told.close())
  return { ...openContext(store, told.opsOf), opsOf: told.opsOf, close: told.close, reported }
}

const until = (count: number, { messages }: { readonly messages: readonly Message[] }) =>
  eventually(() => messages.length >= count, { timeoutMs: 200_000, what: `Message ${count}` })

const types = ({ messages }: { readonly messages: readonly Message[] }) =>
  messages.map(({ told }) => told.type)

describe.each(STORES)('webhooks over $name', ({ create }) => {
  test('each change is told once, in its order, and signed', async () => {
    const store = (await create())()
    const hook = await receiver()
    const secret = newSecret()
    const { context, opsOf, reported } = open(store, [{ url: hook.url, secret }])
    const revision = newRevision()
    const { id } = await context.deployments.create(newDeployment(), revision)
    for (const status of ['QUEUED', 'BUILDING', 'BUILD_FAILED'] as const)
      await moveRevision(store, id, revision.id, status, opsOf)
    await until(5, hook)
    expect(types(hook)).toEqual([
      'deployment.ready',
      'deployment.revision.creating',
      'deployment.revision.queued',
      'deployment.revision.building',
      'deployment.revision.build_failed',
    ])
    const { headers, body, told } = hook.messages[4]!
    expect(told).toEqual({
      type: 'deployment.revision.build_failed',
      deployment_id: id,
      revision_id: revision.id,
      status: 'BUILD_FAILED',
      reason: null,
      at: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
    )
    expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1_000)).toBeLessThan(30)
    expect(new Set(hook.messages.map((message) => message.headers['webhook-id'])).size).toBe(5)
    expect(reported).toEqual([])
  })

  test('a receiver that was away is told everything later in its order, also by another instance', async () => {
    const stores = await create()
    let isAway = true
    const tried: unknown[] = []
    const hook = await receiver(({ headers }) => {
      tried.push(headers['webhook-id'])
      return isAway ? 503 : 200
    })
    const secret = newSecret()
    const store = stores()
    const first = open(store, [{ url: hook.url, secret }])
    const revision = newRevision()
    const { id } = await first.context.deployments.create(newDeployment(), revision)
    await eventually(() => tried.length >= 2)
    await moveRevision(store, id, revision.id, 'DEPLOYED', first.opsOf)
    await first.close()
    isAway = false
    open(stores(), [{ url: hook.url, secret }])
    await until(3, hook)
    expect(types(hook)).toEqual([
      'deployment.ready',
      'deployment.revision.creating',
      'deployment.revision.deployed',
    ])
    // A message that is sent again has its id.
    expect(hook.messages[0]!.headers['webhook-id']).toBe(tried[0])
  })
})

test('the end of a deployment is told, though its record is gone', async () => {
  const store = (await STORES[0]!.create())()
  const hook = await receiver()
  const { context, opsOf } = open(store, [
    { url: hook.url, secret: newSecret(), events: ['deployment.deleted'] },
  ])
  const { id } = await context.deployments.create(newDeployment(), undefined)
  const event = { deploymentId: id, status: 'DELETED', at: Date.now() } as const
  await store.commit(partitionOf(id), {
    ops: [{ op: 'delete', collection: DEPLOYMENTS, id }, statusOp([event]), ...opsOf(event)],
  })
  await until(1, hook)
  expect(types(hook)).toEqual(['deployment.deleted'])
})

test('each receiver is told what it wants, and one that refuses does not stop the others', async () => {
  const store = (await STORES[0]!.create())()
  const [all, some] = [await receiver(), await receiver()]
  let refused = 0
  const strict = await receiver(({ told }) => (told.status === 'READY' && ++refused ? 400 : 200))
  const { context, opsOf, reported } = open(store, [
    { url: all.url, secret: newSecret() },
    { url: some.url, secret: newSecret(), events: ['deployment.revision.deployed'] },
    { url: strict.url, secret: newSecret() },
  ])
  const revision = newRevision()
  const { id } = await context.deployments.create(newDeployment(), revision)
  await moveRevision(store, id, revision.id, 'DEPLOYED', opsOf)
  await Promise.all([until(3, all), until(1, some), until(2, strict)])
  expect(types(some)).toEqual(['deployment.revision.deployed'])
  expect(types(strict)).toEqual(['deployment.revision.creating', 'deployment.revision.deployed'])
  expect(refused).toBe(1)
  expect(reported).toMatchObject([{ code: 'delivery_refused', cause: { code: 'rejected' } }])
  // Nothing is left to be told.
  await eventually(async () => (await store.list('webhook_events')).docs.length === 0)
})

test('a receiver in a network that is allowed is told, and no other one is taken', async () => {
  const store = (await STORES[0]!.create())()
  const inside = await receiver()
  const { context } = open(store, [{ url: inside.url, secret: newSecret(), allow: ['127.0.0.0/8'] }], {
    allowLoopback: false,
  })
  await context.deployments.create(newDeployment(), newRevision())
  await until(1, inside)
  const elsewhere = { url: 'http://10.0.0.1/', secret: newSecret(), allow: ['10.1.0.0/16'] }
  expect(() => open(store, [elsewhere])).toThrow(/^webhooks\[0\]\.url: The URL does not lead/)
})

test('a message has a signature for each secret', async () => {
  const store = (await STORES[0]!.create())()
  const hook = await receiver()
  const { context } = open(store, [{ url: hook.url, secret: [newSecret(), newSecret().slice(6)] }])
  await context.deployments.create(newDeployment(), undefined)
  await until(1, hook)
  expect(hook.messages[0]!.headers['webhook-signature']).toMatch(/^v1,[\w+/]{43}= v1,[\w+/]{43}=$/)
})

test('every status has an event of its own', () => {
  const revisionId = 'r'
  for (const status of REVISION_STATUSES)
    expect(WEBHOOK_EVENT_TYPES).toContain(eventType({ deploymentId: 'd', revisionId, status, at: 0 }))
  for (const status of [...DEPLOYMENT_STATUSES, 'DELETED'] as const)
    expect(WEBHOOK_EVENT_TYPES).toContain(eventType({ deploymentId: 'd', status, at: 0 }))
  expect(WEBHOOK_EVENT_TYPES).toHaveLength(REVISION_STATUSES.length + DEPLOYMENT_STATUSES.length + 1)
})

test('webhooks that cannot work are refused at once, without their secrets', () => {
  const secret = newSecret()
  const good = { url: 'https://receiver.example/hook', secret }
  const make = (webhooks: readonly WebhookOptions[]) => () => createWebhooks({ store: {} as Store, webhooks })
  expect(make([{ ...good, url: 'http://127.0.0.1/' }])).toThrow(/^webhooks\[0\]\.url: /)
  expect(make([{ ...good, url: 'file:///etc/passwd' }])).toThrow(/^webhooks\[0\]\.url: /)
  expect(make([good, good])).toThrow('webhooks[1].url: it is listed twice.')
  expect(make([{ ...good, events: ['deployment.revision.done' as never] }])).toThrow(
    'webhooks[0].events: deployment.revision.done is not one of deployment.awaiting_database',
  )
  for (const wrong of ['', 'whsec_abc', 'hunter2', [], undefined]) {
    expect(make([{ ...good, secret: wrong as string }])).toThrow('openssl rand -base64 32')
    if (wrong === 'hunter2') expect(make([{ ...good, secret: wrong }])).not.toThrow('hunter2')
  }
})
