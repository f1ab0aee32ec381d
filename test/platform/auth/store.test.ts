import { describe, expect, test } from 'vitest'
import { langgraphAuth } from '../../../src/faces/rest/index.ts'
import { defineAgent } from '../../../src/index.ts'
import { serveAgents } from '../../kit/host.ts'
import { clientOf, knowing, owning } from './users.ts'

const agents = { echo: defineAgent({ async run() {} }) }

describe('the store under the Auth of LangGraph', () => {
  test('has one room for each user where a handler puts the user before the namespace', async () => {
    const auth = knowing().on('store', ({ value, user }) => {
      value.namespace = [user.identity, ...(value.namespace ?? [])]
    })
    const host = await serveAgents({ agents, ...langgraphAuth(auth) })
    const [ann, bob] = [clientOf(host.origin, 'ann').store, clientOf(host.origin, 'bob').store]
    await ann.putItem(['notes'], 'a', { text: 'private' })
    expect((await ann.getItem(['notes'], 'a'))?.value).toEqual({ text: 'private' })
    expect(await bob.getItem(['notes'], 'a')).toBeNull()
    expect((await ann.searchItems(['notes'])).items).toHaveLength(1)
    expect((await bob.searchItems([])).items).toEqual([])
    expect((await ann.listNamespaces()).namespaces).toEqual([['ann', 'notes']])
    expect((await bob.listNamespaces()).namespaces).toEqual([])
    await bob.deleteItem(['notes'], 'a')
    expect(await ann.getItem(['notes'], 'a')).not.toBeNull()
    await ann.deleteItem(['notes'], 'a')
    expect(await ann.getItem(['notes'], 'a')).toBeNull()
  })

  test('shows and takes the items that a filter lets through', async () => {
    const host = await serveAgents({ agents, ...langgraphAuth(owning()) })
    const [ann, bob] = [clientOf(host.origin, 'ann').store, clientOf(host.origin, 'bob').store]
    for (let n = 0; n < 3; n++) await ann.putItem(['shared'], `a${n}`, { owner: 'ann', n })
    await bob.putItem(['shared'], 'b', { owner: 'bob' })
    expect((await bob.searchItems([])).items.map(({ key }) => key)).toEqual(['b'])
    expect((await ann.searchItems(['shared'], { limit: 2, offset: 1 })).items).toHaveLength(2)
    expect(await bob.getItem(['shared'], 'a0')).toBeNull()
    await expect(bob.putItem(['shared'], 'a0', { owner: 'bob' })).rejects.toThrow(/HTTP 403/)
    await expect(bob.putItem(['shared'], 'new', { owner: 'ann' })).rejects.toThrow(/HTTP 403/)
    await bob.deleteItem(['shared'], 'a0')
    expect((await ann.getItem(['shared'], 'a0'))?.value).toEqual({ owner: 'ann', n: 0 })
    expect((await bob.listNamespaces()).namespaces).toEqual([])
  })
})
