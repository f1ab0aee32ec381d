import type { GraphStore, GraphStoreNamespaceOptions } from '../../storage/graph-store/index.ts'
import { equal } from '../check.ts'
import { type Checks, rulesOf } from '../rules.ts'
import type { GraphStoreContext } from './rule.ts'

const NAMESPACES = [['a'], ['a', 'b'], ['a', 'b', 'd'], ['a', 'c', 'd'], ['b', 'c'], ['b', 'c', 'x']]

const CASES: readonly (readonly [options: GraphStoreNamespaceOptions, names: readonly string[]])[] = [
  [{}, ['a', 'a b', 'a b d', 'a c d', 'b c', 'b c x']],
  [{ prefix: ['a'] }, ['a', 'a b', 'a b d', 'a c d']],
  [{ prefix: ['a', 'b'] }, ['a b', 'a b d']],
  [{ prefix: ['*', 'c'] }, ['a c d', 'b c', 'b c x']],
  [{ prefix: ['a', '*', 'd'] }, ['a b d', 'a c d']],
  [{ suffix: ['d'] }, ['a b d', 'a c d']],
  [{ suffix: ['c', '*'] }, ['a c d', 'b c x']],
  [{ prefix: ['a'], suffix: ['c', 'd'] }, ['a c d']],
  [{ prefix: ['none'] }, []],
  [{ prefix: ['a', 'b', 'd', 'e'] }, []],
  [{ maxDepth: 1 }, ['a', 'b']],
  [{ maxDepth: 2 }, ['a', 'a b', 'a c', 'b c']],
  [{ maxDepth: 2, prefix: ['a'] }, ['a', 'a b', 'a c']],
  [{ maxDepth: 2, suffix: ['d'] }, ['a b', 'a c']],
]

async function putNamespaces(store: GraphStore): Promise<void> {
  for (const namespace of [...NAMESPACES].reverse()) {
    await store.put(namespace, 'one', {})
    await store.put(namespace, 'two', {})
  }
}

const namesOf = (namespaces: readonly string[][]): string[] => namespaces.map((labels) => labels.join(' '))

const NAMES = {
  'namespaces.match': 'lists namespaces by prefix, suffix and depth, each once',
  'namespaces.order': 'lists namespaces in the order of their names',
  'namespaces.pages': 'returns every namespace on exactly one page',
}

const checks: Checks<keyof typeof NAMES, GraphStoreContext> = {
  async 'namespaces.match'({ store }) {
    await putNamespaces(store)
    for (const [options, names] of CASES)
      equal(JSON.stringify(options), namesOf(await store.listNamespaces(options)).sort(), names)
  },
  async 'namespaces.order'({ store }) {
    await putNamespaces(store)
    const names = namesOf(await store.listNamespaces())
    equal('names', names, [...names].sort())
  },
  async 'namespaces.pages'({ store }) {
    await putNamespaces(store)
    for (const options of [{}, { maxDepth: 2 }, { suffix: ['d'] }]) {
      const all = namesOf(await store.listNamespaces(options))
      const seen: string[] = []
      for (let offset = 0; offset <= all.length; offset += 2)
        seen.push(...namesOf(await store.listNamespaces({ ...options, limit: 2, offset })))
      equal(`pages of two ${JSON.stringify(options)}`, seen, all)
    }
  },
}

export const namespaceRules = /* @__PURE__ */ rulesOf(NAMES, checks)
