import { equal } from '../check.ts'
import { type Checks, rulesOf } from '../rules.ts'
import type { GraphStoreContext } from './rule.ts'
import { sortedKeys } from './rule.ts'

const MINUTE = 60_000

const NAMES = {
  'ttl.expires': 'has no item whose time to live is over',
  'ttl.refresh': 'restarts the time to live only if a read requests it',
  'ttl.put': 'gives an item the time to live of its last put',
}

const checks: Checks<keyof typeof NAMES, GraphStoreContext> = {
  async 'ttl.expires'({ store, advance }) {
    await store.put(['a'], 'short', {}, undefined, { ttl: 2 })
    await store.put(['a', 'b'], 'short', {}, undefined, { ttl: 2 })
    await store.put(['a'], 'long', {}, undefined, { ttl: 60 })
    await store.put(['a'], 'ever', {}, undefined, { ttl: null })
    await advance(3 * MINUTE)
    equal('get', await store.get(['a'], 'short'), null)
    equal('search', sortedKeys(await store.search(['a'])), ['ever', 'long'])
    equal('namespaces', await store.listNamespaces(), [['a']])
    await store.put(['a'], 'short', { again: true })
    equal('put again', (await store.get(['a'], 'short'))?.value, { again: true })
  },
  async 'ttl.refresh'({ store, advance }) {
    for (const key of ['got', 'found', 'left']) await store.put(['a', key], key, {}, undefined, { ttl: 10 })
    await advance(8 * MINUTE)
    await store.get(['a', 'got'], 'got', { refreshTtl: true })
    await store.search(['a', 'found'], { refreshTtl: true })
    await store.get(['a', 'left'], 'left', { refreshTtl: false })
    await advance(8 * MINUTE)
    equal('what is left', sortedKeys(await store.search(['a'], { refreshTtl: false })), ['found', 'got'])
    await advance(8 * MINUTE)
    equal('in the end', await store.search([]), [])
  },
  async 'ttl.put'({ store, advance }) {
    await store.put(['a'], 'k', {}, undefined, { ttl: 10 })
    await advance(8 * MINUTE)
    await store.put(['a'], 'k', {}, undefined, { ttl: 10 })
    await advance(8 * MINUTE)
    equal('put again', sortedKeys(await store.search(['a'], { refreshTtl: false })), ['k'])
    await store.put(['a'], 'k', {}, undefined, { ttl: null })
    await advance(1_000 * MINUTE)
    equal('for ever', sortedKeys(await store.search(['a'])), ['k'])
  },
}

export const ttlRules = /* @__PURE__ */ rulesOf(NAMES, checks)
