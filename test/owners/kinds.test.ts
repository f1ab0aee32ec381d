import { describe, expect, test } from 'vitest'
import { ownerOf, reaches } from '../../src/core/principal.ts'
import { defineAgent, type Principal } from '../../src/index.ts'
import { serve } from '../control-plane/support/served.ts'
import { request } from '../kit/client.ts'
import { PLACES } from '../kit/databases.ts'
import { type Host, serveAgents } from '../kit/host.ts'
import { callers, reachOf } from './reach.ts'

const NAMES = [
  'acme',
  '[tenant]acme',
  '[id]acme',
  '',
  '[tenant]',
  'agentwire:everyone',
  '\u001facme',
  '["acme"]',
]
const PRINCIPALS: readonly Principal[] = NAMES.flatMap((name) => [{ id: name }, { id: 'ann', tenant: name }])

test('no two names of either kind are one owner, and none reaches what another one has', () => {
  const owners = PRINCIPALS.map(ownerOf)
  expect(new Set(owners).size).toBe(owners.length)
  const reached = (owner: string | null, by: string | null) =>
    reaches({ owner: by, metadataFilter: undefined }, { owner, metadata: {} })
  for (const one of owners) for (const other of owners) expect(reached(one, other)).toBe(one === other)
  expect(PRINCIPALS.every((principal) => !reached(null, ownerOf(principal)))).toBe(true)
})

const agent = defineAgent({ run: async ({ message }) => void (await message('done')) })

describe.each(PLACES)('over $name', ({ open }) => {
  const host = async (): Promise<Host> => {
    const { store, checkpointer } = await open()
    return serveAgents({ agents: { agent }, store, checkpointer, authenticate: callers })
  }

  test.each([
    ['tenant acme', 'id acme'],
    ['id acme', 'tenant acme'],
    ['tenant acme', 'id [tenant]acme'],
    ['id acme', 'tenant [id]acme'],
  ])('what %s makes is not there for %s', async (maker, other) => {
    const { origin } = await host()
    const made = await reachOf(origin, maker).make()
    expect(await reachOf(origin, maker).reached(made)).toEqual(made.all)
    expect(await reachOf(origin, other).reached(made)).toEqual([])
    // The same ids and keys are free for the other.
    const own = await reachOf(origin, other).make()
    expect(own.ids.filter((id) => made.ids.includes(id))).toEqual([])
  })

  test('deployments, their names and listeners of a tenant are not those of an id of that name', async () => {
    const { store } = await open()
    const { ask } = serve({ store, authenticate: callers, secrets: { key: btoa('k'.repeat(32)) } })
    const as = (caller: string) => ({ 'x-caller': caller })
    const body = {
      name: 'mine',
      source: 'internal_docker',
      source_config: {},
      source_revision_config: { image_uri: 'registry.test/image:1' },
    }
    const listener = { compute_id: 'c', compute_type: 'k8s', compute_config: { k8s_namespaces: ['n'] } }
    for (const caller of ['tenant acme', 'id acme']) {
      const made = await ask('POST', '/v2/deployments', body, as(caller))
      const listens = await ask('POST', '/v2/listeners', listener, as(caller))
      expect([caller, made.status, listens.status]).toEqual([caller, 201, 201])
      for (const stranger of ['id [tenant]acme', 'tenant [id]acme'])
        for (const path of [`/v2/deployments/${made.body.id}`, `/v2/listeners/${listens.body.id}`])
          expect((await ask('GET', path, undefined, as(stranger))).status).toBe(404)
    }
    for (const caller of ['tenant acme', 'id acme'])
      for (const path of ['/v2/deployments', '/v2/listeners'])
        expect((await ask('GET', path, undefined, as(caller))).body.resources).toHaveLength(1)
  })

  test('a request takes no more calls of the store than before', async () => {
    const { store, checkpointer } = await open()
    const calls: string[] = []
    const counted = new Proxy(store, {
      get: (of, name: keyof typeof store) => {
        const value = of[name]
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          if (name === 'get' || name === 'list' || name === 'count') calls.push(`${name} ${String(args[0])}`)
          return (value as (...args: unknown[]) => unknown).apply(of, args)
        }
      },
    })
    const { origin } = await serveAgents({
      agents: { agent },
      store: counted,
      checkpointer,
      authenticate: callers,
    })
    const caller = { 'x-caller': 'tenant acme' }
    const { thread_id } = (await request(origin, 'POST', '/threads', {}, caller)).body
    await request(origin, 'GET', `/threads/${thread_id}`, undefined, caller)
    calls.length = 0
    await request(origin, 'GET', `/threads/${thread_id}`, undefined, caller)
    expect(calls.filter((call) => call.includes('\u001f'))).toEqual([])
    expect(calls.length).toBeLessThanOrEqual(2)
  })
})
