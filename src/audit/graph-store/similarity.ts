import type { GraphStoreSearchItem } from '../../graph-store/index.ts'
import { equal, hold } from '../check.ts'
import { type GraphStoreRule, keysOf } from './rule.ts'

/** The score of the item with this key. */
const scoreOf = (items: readonly GraphStoreSearchItem[], key: string): number =>
  items.find((item) => item.key === key)?.score ?? Number.NaN

export const similarityRules: readonly GraphStoreRule[] = [
  {
    id: 'similarity.order',
    name: 'gives the nearest first, with scores that fall',
    async check({ openIndexed }) {
      const store = await openIndexed()
      await store.put(['days'], 'wet', { text: 'rain' })
      await store.put(['days'], 'bright', { text: 'sun' })
      await store.put(['days'], 'mixed', { text: 'sun and rain' })
      const found = await store.search(['days'], { query: 'much sun today' })
      equal('keys', keysOf(found), ['bright', 'mixed', 'wet'])
      hold(
        'the score of the same words',
        scoreOf(found, 'bright') > 0.99,
        'about 1',
        scoreOf(found, 'bright'),
      )
      const falls = found.every(({ score = 2 }, index) => index === 0 || score <= found[index - 1]!.score!)
      hold(
        'scores',
        falls,
        'falling ones',
        found.map(({ score }) => score),
      )
    },
  },
  {
    id: 'similarity.bounds',
    name: 'compares what is under the prefix and matches the filter, and gives pages of it',
    async check({ openIndexed }) {
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
  },
  {
    id: 'similarity.fields',
    name: 'embeds the fields that it was told to, each for itself',
    async check({ openIndexed }) {
      const store = await openIndexed(['title', 'parts[*].text', 'notes[-1]'])
      await store.put(['a'], 'title', { title: 'sun', body: 'rain' })
      await store.put(['a'], 'part', { title: 'snow', parts: [{ text: 'wind' }, { text: 'rain' }] })
      await store.put(['a'], 'note', { title: 'snow', notes: ['rain', 'wind'] })
      const rain = await store.search(['a'], { query: 'rain' })
      equal('rain', keysOf(rain).slice(0, 1), ['part'])
      hold('the score of its best text', scoreOf(rain, 'part') > 0.99, 'about 1', scoreOf(rain, 'part'))
      hold(
        'a field that is not embedded',
        scoreOf(rain, 'title') < 0.5,
        'a low score',
        scoreOf(rain, 'title'),
      )
      hold('an item before the last', scoreOf(rain, 'note') < 0.5, 'a low score', scoreOf(rain, 'note'))
    },
  },
  {
    id: 'similarity.index',
    name: 'embeds the fields that a put names, or none for false',
    async check({ openIndexed }) {
      const store = await openIndexed(['title'])
      await store.put(['a'], 'named', { title: 'snow', body: 'sun' }, ['body'])
      await store.put(['a'], 'none', { title: 'sun' }, false)
      const found = await store.search(['a'], { query: 'sun' })
      equal('keys', keysOf(found), ['named', 'none'])
      hold('the score of the named field', scoreOf(found, 'named') > 0.99, 'about 1', scoreOf(found, 'named'))
      equal('the score of no field', found[1]!.score ?? null, null)
    },
  },
  {
    id: 'similarity.replace',
    name: 'compares the text that an item has now',
    async check({ openIndexed }) {
      const store = await openIndexed()
      await store.put(['a'], 'k', { text: 'sun' })
      await store.put(['a'], 'other', { text: 'sun rain' })
      await store.put(['a'], 'k', { text: 'snow' })
      equal('keys', keysOf(await store.search(['a'], { query: 'sun' })), ['other', 'k'])
    },
  },
]
