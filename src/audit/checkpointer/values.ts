import { type Checks, claim, outcome, rulesOf, same } from '../check.ts'
import { at, type CheckpointerContext, idOf, putDraft } from './rule.ts'

const ODD_IDS = [
  '__proto__',
  'constructor',
  'a/b',
  'a%2Fb',
  "'; --",
  '"{}*:\\',
  'é\u0000🙂',
  'x'.repeat(4096),
]

const NAMES = {
  'values.round-trip': 'returns checkpoint, metadata and addresses as they were put',
  'values.large': 'stores values of several megabytes',
  'values.isolated': 'stores copies: changing what was put or returned does not change what is stored',
  'values.carried-over': 'stores the changed channels, and reads the others from earlier checkpoints',
  'values.branches':
    'keeps the values of two branches separate, even if their versions have the same numbers',
  'values.newest': 'finds the newest checkpoint, any checkpoint by its id, and none that was never put',
  'values.odd-ids': 'accepts any string as thread id and namespace, or rejects it, and changes nothing else',
  'values.prototype-key': 'keeps a key named __proto__ as a key, and sets no prototype',
  'values.addresses-required': 'rejects writes without a thread id, and accepts them without a checkpoint id',
}

const checks: Checks<keyof typeof NAMES, CheckpointerContext> = {
  async 'values.round-trip'({ checkpointer, threadId, put, tuple }) {
    const values = {
      text: 'é\u0000\u2028🙂"\\',
      number: -1.5e300,
      none: null,
      nested: { list: [1, [2, { a: [] }]], '': {} },
      bytes: Uint8Array.of(0, 255, 10),
      map: new Map([['k', new Set([1, 2])]]),
    }
    await put(1)
    const own = { free: { key: ['x'] }, thread_id: 'shadow' }
    const config = await put(2, { parent: 1, values, metadata: own })
    const ids = { thread_id: threadId, checkpoint_ns: '', checkpoint_id: idOf(2) }
    same(config.configurable, ids, 'the config that put gives')
    for (const asked of [at(threadId), at(threadId, idOf(2)), { configurable: { thread_id: threadId } }]) {
      const found = (await checkpointer.getTuple(asked))!
      same(found.config.configurable, ids, 'the config')
      same(found.parentConfig?.configurable, { ...ids, checkpoint_id: idOf(1) }, 'the parent')
      same(found.checkpoint.channel_values, values, 'channel values')
      const versions = Object.fromEntries(Object.keys(values).map((key) => [key, 1]))
      const { v, id, ts, channel_versions, versions_seen } = found.checkpoint
      same(channel_versions, versions, 'versions')
      same(versions_seen, { node: versions }, 'versions seen')
      same([v, id, ts.slice(0, 4)], [4, idOf(2), '2023'], 'v, id, ts')
      same(found.metadata, { source: 'loop', step: 2, parents: {}, ...own }, 'metadata')
    }
    const first = (await tuple(1))!
    same(first.parentConfig, undefined, 'the parent of the first')
  },
  async 'values.large'({ put, write, tuple }) {
    const text = 'é🙂x'.repeat(700_000)
    const list = Array.from({ length: 20_000 }, (_, i) => ({ i, text: `item ${i}` }))
    await put(1, { values: { text, list } })
    await write(1, 'task', { text: text })
    const newest = (await tuple())!
    claim(newest.checkpoint.channel_values.text === text, 'the text is whole')
    same(newest.checkpoint.channel_values.list, list, 'the list')
    claim(newest.pendingWrites?.[0]?.[2] === text, 'the text of the write is whole')
  },
  async 'values.isolated'({ put, write, tuple }) {
    const list = [{ a: 1 }]
    const metadata = { free: { list: [1] } }
    const versions = { list: 1 }
    const written = { deep: [1] }
    await put(1, { values: { list }, versions, metadata })
    await write(1, 'task', { list: written })
    list[0]!.a = 2
    list.push({ a: 3 })
    metadata.free.list.push(2)
    versions.list = 9
    written.deep.push(2)
    const read = async () => {
      const { checkpoint, metadata, pendingWrites } = (await tuple())!
      const { channel_values: values, channel_versions, versions_seen } = checkpoint
      const { free } = metadata as unknown as typeof stored
      return { values, channel_versions, versions_seen, free, pendingWrites }
    }
    const stored = {
      values: { list: [{ a: 1 }] },
      channel_versions: { list: 1 },
      versions_seen: { node: { list: 1 } },
      free: { list: [1] },
      pendingWrites: [['task', 'list', { deep: [1] }]],
    }
    const given = await read()
    same(given, stored, 'after a change of what was put')
    ;(given.values.list as { a: number }[])[0]!.a = 7
    ;(given.values.list as unknown[]).length = 0
    given.values.other = 1
    given.channel_versions.list = 7
    given.versions_seen.node!.list = 7
    given.free.list.push(7)
    ;(given.pendingWrites![0]![2] as typeof written).deep.push(7)
    same(await read(), stored, 'after a change of what was given back')
  },
  async 'values.carried-over'({ put, valuesOf }) {
    await put(1, { values: { a: 'a1', b: 'b1' } })
    await put(2, { parent: 1, values: { a: 'a2', b: 'b1' }, versions: { a: 2, b: 1 }, changed: { a: 2 } })
    await put(3, { parent: 2, values: { b: 'b1' }, versions: { a: 3, b: 1, c: 3 }, changed: { a: 3, c: 3 } })
    same(await valuesOf(1), { a: 'a1', b: 'b1' }, 'the first')
    same(await valuesOf(2), { a: 'a2', b: 'b1' }, 'the second')
    same(await valuesOf(3), { b: 'b1' }, 'the third, in which a channel became empty')
  },
  async 'values.branches'({ put, valuesOf }) {
    const branch = (number: number, parent: number, text: string, version: number, changed = {}) =>
      put(number, { parent, values: { text, base: 'base' }, versions: { text: version, base: 1 }, changed })
    await put(1, { values: { text: 'root', base: 'base' } })
    await branch(2, 1, 'left', 2, { text: 2 })
    await branch(3, 1, 'right', 2, { text: 2 })
    await branch(4, 2, 'left again', 3, { text: 3 })
    await branch(5, 3, 'right again', 3, { text: 3 })
    const wanted = { 2: 'left', 3: 'right', 4: 'left again', 5: 'right again' }
    for (const [number, text] of Object.entries(wanted)) {
      same(await valuesOf(Number(number)), { text, base: 'base' }, `checkpoint ${number}`)
    }
    // A fork: a copy of checkpoint 2 as another child of checkpoint 1, without new values.
    await branch(6, 1, 'left', 2)
    same(await valuesOf(), { text: 'left', base: 'base' }, 'the copy of a checkpoint')
  },
  async 'values.newest'({ checkpointer, threadId, put, tuple, valuesOf, unique }) {
    for (const number of [2, 3, 5]) await put(number, { values: { number } })
    same(await valuesOf(), { number: 5 }, 'the newest')
    same(await valuesOf(3), { number: 3 }, 'by id')
    same(await tuple(4), undefined, 'an id that was never put')
    same(await checkpointer.getTuple(at(threadId, undefined, 'other')), undefined, 'another namespace')
    same(await checkpointer.getTuple(at(unique())), undefined, 'another thread')
    same(await checkpointer.getTuple(at(unique(), idOf(3))), undefined, 'an id of another thread')
    await put(5, { values: { number: 'again' } })
    same(await valuesOf(), { number: 'again' }, 'a second put of one id')
  },
  async 'values.odd-ids'({ checkpointer, threadId }) {
    for (const odd of ODD_IDS) {
      const id = odd.startsWith('__') || odd === 'constructor' ? odd : threadId + odd
      const put = putDraft(checkpointer, 1, { threadId: id, namespace: odd, values: { odd } })
      const [error] = await outcome(put)
      if (error !== undefined) continue
      const found = await checkpointer.getTuple(at(id, undefined, odd))
      same(found?.checkpoint.channel_values, { odd }, `the value under ${odd.slice(0, 20)}`)
      await checkpointer.deleteThread(id)
      same(await checkpointer.getTuple(at(id, undefined, odd)), undefined, 'after deleteThread')
    }
    same(Object.keys(Object.prototype), [], 'Object.prototype')
  },
  async 'values.prototype-key'({ put, valuesOf }) {
    const values = JSON.parse('{"__proto__":{"polluted":1},"safe":1}') as Record<string, unknown>
    await put(1, { values: { state: values } })
    same((await valuesOf())?.state, values, 'a value with the key __proto__')
    same(({} as { polluted?: unknown }).polluted, undefined, 'Object.prototype')
  },
  async 'values.addresses-required'({ checkpointer, threadId, tuple }) {
    for (const config of [{}, { configurable: {} }, { configurable: { checkpoint_ns: '' } }]) {
      const put = checkpointer.put(config, draft, { source: 'loop', step: 1, parents: {} }, {})
      claim((await outcome(put))[0] !== undefined, 'put without a thread id is refused')
      const [error] = await outcome(checkpointer.putWrites(config, [['a', 1]], 'task'))
      claim(error !== undefined, 'putWrites without a thread id is refused')
    }
    const [error] = await outcome(checkpointer.putWrites(at(threadId), [['a', 1]], 'task'))
    claim(error !== undefined, 'putWrites without a checkpoint id is refused')
    same(await tuple(), undefined, 'what was stored')
  },
}

export const valueRules = /* @__PURE__ */ rulesOf(NAMES, checks)

const draft = { v: 4, id: idOf(1), ts: '', channel_values: {}, channel_versions: {}, versions_seen: {} }
