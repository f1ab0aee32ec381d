import type { GraphStoreSearchItem } from '../../storage/graph-store/index.ts'
import { equal, hold } from '../check.ts'
import { type Checks, rulesOf } from '../rules.ts'
import type { GraphStoreContext } from './rule.ts'
import { keysOf } from './rule.ts'

/** The score of the item with this key. */
const scoreOf = (items: readonly GraphStoreSearchItem[], key: string): number =>
  items.find((item) => item.key === key)?.score ?? Number.NaN

const NAMES = {
  'similarity.order': 'returns the nearest first, with descending scores',
  'similarity.bounds': 'compares the items under the prefix that match the filter, and returns them in pages',
  'similarity.fields': 'embeds each configured field separately',
  'similarity.index': 'embeds the fields that a put names, or none for false',
  'similarity.replace': 'compares the current text of an item',
}

const checks: Checks<keyof typeof NAMES, GraphStoreContext> = {
  async 'similarity.order'({ openIndexed }) {
    const store = await openIndexed()
    await store.put(['days'], 'wet', { text: 'rain' })
    await store.put(['days'], 'bright', { text: 'sun' })
    await store.put(['days'], 'mixed', { text: 'sun and rain' })
    const found = await store.search(['days'], { query: 'much sun today' })
    equal('keys', keysOf(found), ['bright', 'mixed', 'wet'])
    hold('the score of the same words', scoreOf(found, 'bright') > 0.99, 'about 1', scoreOf(found, 'bright'))
    const scores = found.map(({ score = 2 }) => score)
    const falls = scores.every((score, index) => index === 0 || score <= scores[index - 1]!)
    hold('scores', falls, 'falling ones', scores)
  },
  async 'similarity.bounds'({ openIndexed }) {
    const store = await openIndexed()
    for (const [key, text, kind] of [
      ['1', 'sun', 'x'],
      ['2', 'sun rain', 'x'],
      ['3', 'sun rain snow', 'x'],
      ['4', 'sun', 'y'],
    ] as const)
      await store.put(['days', key], key, { text, kind })
    await store.put(['other'], '5', { text: 'sun', kind: 'x' })
    const search = (limit: number, offset: number) =>
      store.search(['days'], { query: 'sun', filter: { kind: 'x' }, limit, offset })
    equal('a page', keysOf(await search(2, 0)), ['1', '2'])
    equal('the next', keysOf(await search(2, 2)), ['3'])
  },
  async 'similarity.fields'({ openIndexed }) {
    const store = await openIndexed(['title', 'parts[*].text', 'notes[-1]'])
    await store.put(['a'], 'title', { title: 'sun', body: 'rain' })
    await store.put(['a'], 'part', { title: 'snow', parts: [{ text: 'wind' }, { text: 'rain' }] })
    await store.put(['a'], 'note', { title: 'snow', notes: ['rain', 'wind'] })
    const rain = await store.search(['a'], { query: 'rain' })
    equal('rain', keysOf(rain).slice(0, 1), ['part'])
    hold('the score of its best text', scoreOf(rain, 'part') > 0.99, 'about 1', scoreOf(rain, 'part'))
    hold('a field that is not embedded', scoreOf(rain, 'title') < 0.5, 'a low score', scoreOf(rain, 'title'))
    hold('an item before the last', scoreOf(rain, 'note') < 0.5, 'a low score', scoreOf(rain, 'note'))
  },
  async 'similarity.index'({ openIndexed }) {
    const store = await openIndexed(['title'])
    await store.put(['a'], 'named', { title: 'snow', body: 'sun' }, ['body'])
    await store.put(['a'], 'none', { title: 'sun' }, false)
    const found = await store.search(['a'], { query: 'sun' })
    equal('keys', keysOf(found), ['named', 'none'])
    hold('the score of the named field', scoreOf(found, 'named') > 0.99, 'about 1', scoreOf(found, 'named'))
    equal('the score of no field', found[1]!.score ?? null, null)
  },
  async 'similarity.replace'({ openIndexed }) {
    const store = await openIndexed()
    await store.put(['a'], 'k', { text: 'sun' })
    await store.put(['a'], 'other', { text: 'sun rain' })
    await store.put(['a'], 'k', { text: 'snow' })
    equal('keys', keysOf(await store.search(['a'], { query: 'sun' })), ['other', 'k'])
  },
}

export const similarityRules = /* @__PURE__ */ rulesOf(NAMES, checks)
