import { type Checks, rulesOf } from '../rules.ts'
import { claim, outcome, same } from '../store/claims.ts'
import type { CheckpointerContext } from './rule.ts'
import { at, idOf, putDraft, valuesAt } from './rule.ts'

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
  'values.round-trip': 'gives back checkpoint, metadata and addresses as they were put',
  'values.large': 'keeps values of megabytes',
  'values.isolated': 'keeps copies: changing what was put, or what was given back, changes nothing stored',
  'values.carried-over': 'stores what changed, and reads the rest from the checkpoints before',
  'values.branches': 'keeps the values of two branches apart, although both number their versions alike',
  'values.newest': 'finds the newest, any one by its id, and nothing that was never put',
  'values.odd-ids': 'takes any string as thread id and namespace, or refuses it, and touches nothing else',
  'values.prototype-key': 'keeps a key named __proto__ as a key, and sets no prototype by it',
  'values.addresses-required': 'refuses to write without a thread id, and writes without a checkpoint id',
}

const checks: Checks<keyof typeof NAMES, CheckpointerContext> = {
  async 'values.round-trip'({ checkpointer, threadId }) {
    const values = {
      text: 'é\u0000\u2028🙂"\\',
      number: -1.5e300,
      none: null,
      nested: { list: [1, [2, { a: [] }]], '': {} },
      bytes: Uint8Array.of(0, 255, 10),
      map: new Map([['k', new Set([1, 2])]]),
    }
    await putDraft(checkpointer, 1, { threadId })
    const config = await putDraft(checkpointer, 2, {
      threadId,
      parent: idOf(1),
      values,
      metadata: { free: { key: ['x'] }, thread_id: 'shadow' },
    })
    const ids = { thread_id: threadId, checkpoint_ns: '', checkpoint_id: idOf(2) }
    same(config.configurable, ids, 'the config that put gives')
    for (const asked of [at(threadId), at(threadId, idOf(2)), { configurable: { thread_id: threadId } }]) {
      const tuple = (await checkpointer.getTuple(asked))!
      same(tuple.config.configurable, ids, 'the config')
      same(tuple.parentConfig?.configurable, { ...ids, checkpoint_id: idOf(1) }, 'the parent')
      same(tuple.checkpoint.channel_values, values, 'channel values')
      same(
        tuple.checkpoint.channel_versions,
        Object.fromEntries(Object.keys(values).map((k) => [k, 1])),
        'versions',
      )
      same(tuple.checkpoint.versions_seen, { node: tuple.checkpoint.channel_versions }, 'versions seen')
      same(
        [tuple.checkpoint.v, tuple.checkpoint.id, tuple.checkpoint.ts.slice(0, 4)],
        [4, idOf(2), '2023'],
        'v, id, ts',
      )
      const metadata = { source: 'loop', step: 2, parents: {}, free: { key: ['x'] }, thread_id: 'shadow' }
      same(tuple.metadata, metadata, 'metadata')
    }
    const first = (await checkpointer.getTuple(at(threadId, idOf(1))))!
    same(first.parentConfig, undefined, 'the parent of the first')
  },
  async 'values.large'({ checkpointer, threadId }) {
    const text = 'é🙂x'.repeat(700_000)
    const list = Array.from({ length: 20_000 }, (_, i) => ({ i, text: `item ${i}` }))
    await putDraft(checkpointer, 1, { threadId, values: { text, list } })
    await checkpointer.putWrites(at(threadId, idOf(1)), [['text', text]], 'task')
    const tuple = (await checkpointer.getTuple(at(threadId)))!
    claim(tuple.checkpoint.channel_values.text === text, 'the text is whole')
    same(tuple.checkpoint.channel_values.list, list, 'the list')
    claim(tuple.pendingWrites?.[0]?.[2] === text, 'the text of the write is whole')
  },
  async 'values.isolated'({ checkpointer, threadId }) {
    const list = [{ a: 1 }]
    const metadata = { free: { list: [1] } }
    const versions = { list: 1 }
    const write = { deep: [1] }
    await putDraft(checkpointer, 1, { threadId, values: { list }, versions, metadata })
    await checkpointer.putWrites(at(threadId, idOf(1)), [['list', write]], 'task')
    list[0]!.a = 2
    list.push({ a: 3 })
    metadata.free.list.push(2)
    versions.list = 9
    write.deep.push(2)
    const read = async () => {
      const { checkpoint, metadata, pendingWrites } = (await checkpointer.getTuple(at(threadId)))!
      const { channel_values: values, channel_versions, versions_seen } = checkpoint
      return {
        values,
        channel_versions,
        versions_seen,
        free: (metadata as unknown as typeof stored).free,
        pendingWrites,
      }
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
    ;(given.pendingWrites![0]![2] as typeof write).deep.push(7)
    same(await read(), stored, 'after a change of what was given back')
  },
  async 'values.carried-over'({ checkpointer, threadId }) {
    await putDraft(checkpointer, 1, { threadId, values: { a: 'a1', b: 'b1' } })
    await putDraft(checkpointer, 2, {
      threadId,
      parent: idOf(1),
      values: { a: 'a2', b: 'b1' },
      versions: { a: 2, b: 1 },
      changed: { a: 2 },
    })
    await putDraft(checkpointer, 3, {
      threadId,
      parent: idOf(2),
      values: { b: 'b1' },
      versions: { a: 3, b: 1, c: 3 },
      changed: { a: 3, c: 3 },
    })
    same(await valuesAt(checkpointer, threadId, 1), { a: 'a1', b: 'b1' }, 'the first')
    same(await valuesAt(checkpointer, threadId, 2), { a: 'a2', b: 'b1' }, 'the second')
    same(await valuesAt(checkpointer, threadId, 3), { b: 'b1' }, 'the third, in which a channel became empty')
  },
  async 'values.branches'({ checkpointer, threadId }) {
    const branch = (number: number, parent: number, text: string, version: number) =>
      putDraft(checkpointer, number, {
        threadId,
        parent: idOf(parent),
        values: { text, base: 'base' },
        versions: { text: version, base: 1 },
        changed: { text: version },
      })
    await putDraft(checkpointer, 1, { threadId, values: { text: 'root', base: 'base' } })
    await branch(2, 1, 'left', 2)
    await branch(3, 1, 'right', 2)
    await branch(4, 2, 'left again', 3)
    await branch(5, 3, 'right again', 3)
    const wanted = { 2: 'left', 3: 'right', 4: 'left again', 5: 'right again' }
    for (const [number, text] of Object.entries(wanted)) {
      same(
        await valuesAt(checkpointer, threadId, Number(number)),
        { text, base: 'base' },
        `checkpoint ${number}`,
      )
    }
    // A fork: a copy of checkpoint 2 as another child of checkpoint 1, in which nothing is new.
    await putDraft(checkpointer, 6, {
      threadId,
      parent: idOf(1),
      values: { text: 'left', base: 'base' },
      versions: { text: 2, base: 1 },
      changed: {},
    })
    same(await valuesAt(checkpointer, threadId), { text: 'left', base: 'base' }, 'the copy of a checkpoint')
  },
  async 'values.newest'({ checkpointer, threadId, unique }) {
    for (const number of [2, 3, 5]) await putDraft(checkpointer, number, { threadId, values: { number } })
    same(await valuesAt(checkpointer, threadId), { number: 5 }, 'the newest')
    same(await valuesAt(checkpointer, threadId, 3), { number: 3 }, 'by id')
    same(await checkpointer.getTuple(at(threadId, idOf(4))), undefined, 'an id that was never put')
    same(await checkpointer.getTuple(at(threadId, undefined, 'other')), undefined, 'another namespace')
    same(await checkpointer.getTuple(at(unique())), undefined, 'another thread')
    same(await checkpointer.getTuple(at(unique(), idOf(3))), undefined, 'an id of another thread')
    await putDraft(checkpointer, 5, { threadId, values: { number: 'again' } })
    same(await valuesAt(checkpointer, threadId), { number: 'again' }, 'a second put of one id')
  },
  async 'values.odd-ids'({ checkpointer, threadId }) {
    for (const odd of ODD_IDS) {
      const id = odd.startsWith('__') || odd === 'constructor' ? odd : threadId + odd
      const [error] = await outcome(
        putDraft(checkpointer, 1, { threadId: id, namespace: odd, values: { odd } }),
      )
      if (error !== undefined) continue
      const tuple = await checkpointer.getTuple(at(id, undefined, odd))
      same(tuple?.checkpoint.channel_values, { odd }, `the value under ${odd.slice(0, 20)}`)
      await checkpointer.deleteThread(id)
      same(await checkpointer.getTuple(at(id, undefined, odd)), undefined, 'after deleteThread')
    }
    same(Object.keys(Object.prototype), [], 'Object.prototype')
  },
  async 'values.prototype-key'({ checkpointer, threadId }) {
    const values = JSON.parse('{"__proto__":{"polluted":1},"safe":1}') as Record<string, unknown>
    await putDraft(checkpointer, 1, { threadId, values: { state: values } })
    same((await valuesAt(checkpointer, threadId))?.state, values, 'a value with the key __proto__')
    same(({} as { polluted?: unknown }).polluted, undefined, 'Object.prototype')
  },
  async 'values.addresses-required'({ checkpointer, threadId }) {
    for (const config of [{}, { configurable: {} }, { configurable: { checkpoint_ns: '' } }]) {
      const answer = await outcome(
        checkpointer.put(config, draft, { source: 'loop', step: 1, parents: {} }, {}),
      )
      claim(answer[0] !== undefined, 'put without a thread id is refused')
      const [error] = await outcome(checkpointer.putWrites(config, [['a', 1]], 'task'))
      claim(error !== undefined, 'putWrites without a thread id is refused')
    }
    const [error] = await outcome(checkpointer.putWrites(at(threadId), [['a', 1]], 'task'))
    claim(error !== undefined, 'putWrites without a checkpoint id is refused')
    same(await checkpointer.getTuple(at(threadId)), undefined, 'what was stored')
  },
}

export const valueRules = /* @__PURE__ */ rulesOf(NAMES, checks)

const draft = { v: 4, id: idOf(1), ts: '', channel_values: {}, channel_versions: {}, versions_seen: {} }
