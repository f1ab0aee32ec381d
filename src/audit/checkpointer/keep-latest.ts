import type { Checkpointer, CheckpointTuple } from '../../storage/checkpointer/checkpointer.ts'
import { type Checks, type Rule, refused, rulesOf, same } from '../check.ts'
import { at, type CheckpointerContext, type Draft, idOf, listAll, putDraft, valuesAt } from './rule.ts'

type Shortening = Checkpointer & Required<Pick<Checkpointer, 'keepLatest'>>

type ShorteningContext = CheckpointerContext & { readonly checkpointer: Shortening }

/** A checkpoint that changes the channel `a`. `b` is unchanged since the first. */
function putChild(saver: Checkpointer, number: number, parent: number | undefined, draft: Draft) {
  const versions = { a: number, b: 1 }
  const changed = parent === undefined ? versions : { a: number }
  return putDraft(saver, number, { ...draft, parent, versions, changed, values: { a: `a${number}`, b: 'b' } })
}

/** A chain of checkpoints, each the child of the one before. */
async function putLine(saver: Checkpointer, threadId: string, numbers: readonly number[], namespace = '') {
  for (const [i, number] of numbers.entries()) {
    await putChild(saver, number, numbers[i - 1], { threadId, namespace })
    await saver.putWrites(at(threadId, idOf(number), namespace), [['a', `to ${number}`]], 'task')
  }
}

/** The checkpoints of a namespace, newest first. */
const idsOf = async (saver: Checkpointer, threadId: string, namespace = ''): Promise<string[]> =>
  (await listAll(saver, at(threadId, undefined, namespace))).map(({ checkpoint }) => checkpoint.id)

interface DeltaSaver {
  getDeltaChannelHistory?(options: {
    config: CheckpointTuple['config']
    channels: string[]
  }): Promise<unknown>
}

const NAMES = {
  'keep-latest.newest':
    'keeps the newest checkpoint of each namespace unchanged, with its writes, and changes no other thread',
  'keep-latest.clocks': 'keeps only the checkpoint that was put last, whatever clocks generated the ids',
  'keep-latest.branches':
    "keeps the newest values if branches have the same version numbers, and each namespace's values at the requested checkpoint",
  'keep-latest.delta':
    'keeps the ancestors that delta channels are read from, back to the nearest with a value',
  'keep-latest.concurrent': 'loses no checkpoint that is put on top of the newest concurrently',
  'keep-latest.fence': 'deletes nothing through a fenced view after another holder has taken the lease',
}

const checks: Checks<keyof typeof NAMES, ShorteningContext> = {
  async 'keep-latest.newest'({ checkpointer, threadId, put, write, tuple, unique }) {
    const other = unique()
    for (const thread of [threadId, other]) {
      await putLine(checkpointer, thread, [1, 2, 5])
      await putLine(checkpointer, thread, [3, 4], 'child:1')
    }
    await write(5, 'task', { __interrupt__: { id: 'i', value: 1 } })
    // The writes of a task may arrive before their checkpoint.
    await write(6, 'task', { a: 'early' })
    const newest = async () => [
      await tuple(),
      await checkpointer.getTuple(at(threadId, undefined, 'child:1')),
    ]
    const before = await newest()
    for (const time of ['once', 'twice']) {
      await checkpointer.keepLatest(threadId)
      same(await newest(), before, `the newest, after it was shortened ${time}`)
      same(await listAll(checkpointer, { configurable: { thread_id: threadId } }), before, 'all that is left')
    }
    same(await tuple(2), undefined, 'an earlier checkpoint')
    same(await idsOf(checkpointer, other), [5, 2, 1].map(idOf), 'another thread')
    await checkpointer.keepLatest(unique())
    await putLine(checkpointer, threadId, [2])
    const again = (await tuple(2))!
    same(again.pendingWrites, [['task', 'a', 'to 2']], 'the writes of a checkpoint that is put anew')
    await put(6, { parent: 5, versions: { a: 5, b: 1 }, changed: {} })
    const next = (await tuple())!
    same(next.pendingWrites, [['task', 'a', 'early']], 'the writes that came before their checkpoint')
    same(next.checkpoint.channel_values, { a: 'a5', b: 'b' }, 'the values of a child of the newest')
  },
  async 'keep-latest.clocks'({ checkpointer, threadId, tuple }) {
    await putLine(checkpointer, threadId, [6, 9, 4, 7, 3])
    await putLine(checkpointer, threadId, [8, 2], 'child')
    const newest = await tuple()
    await checkpointer.keepLatest(threadId, idOf(9))
    same(await idsOf(checkpointer, threadId), [3, 9].map(idOf), 'the newest, and the one asked for')
    await checkpointer.keepLatest(threadId)
    same(await tuple(), newest, 'the newest')
    same(await idsOf(checkpointer, threadId), [idOf(3)], 'all that is left')
    same(await idsOf(checkpointer, threadId, 'child'), [idOf(2)], 'all that is left of a child')
    await putLine(checkpointer, threadId, [9])
    const again = (await tuple())!
    same(again.checkpoint.id, idOf(9), 'one that is put anew')
    same(again.pendingWrites, [['task', 'a', 'to 9']], 'its writes')
  },
  async 'keep-latest.branches'({ checkpointer, threadId, put, valuesOf }) {
    const branch = (number: number, parent: number, text: string) =>
      put(number, {
        ...{ parent, values: { text, base: 'base' } },
        ...{ versions: { text: 2, base: 1 }, changed: { text: 2 } },
      })
    await put(1, { values: { text: 'root', base: 'base' } })
    await putLine(checkpointer, threadId, [2, 3, 5, 7], 'child')
    await branch(4, 1, 'left')
    await branch(6, 1, 'right')
    await checkpointer.keepLatest(threadId, idOf(4))
    same(await idsOf(checkpointer, threadId), [6, 4].map(idOf), 'the checkpoints of the root')
    same(await idsOf(checkpointer, threadId, 'child'), [7, 3].map(idOf), 'those of a child')
    same(await valuesOf(4), { text: 'left', base: 'base' }, 'the one asked for')
    same(await valuesOf(), { text: 'right', base: 'base' }, 'the newest')
    await checkpointer.keepLatest(threadId)
    same(await idsOf(checkpointer, threadId), [6].map(idOf), 'the checkpoints of the root, later')
    same(await valuesOf(), { text: 'right', base: 'base' }, 'the newest, later')
  },
  async 'keep-latest.delta'({ checkpointer, threadId, put, write }) {
    const counted = (...channels: string[]) => ({
      counters_since_delta_snapshot: Object.fromEntries(channels.map((channel) => [channel, [1, 1]])),
    })
    const add = (number: number, values: Record<string, unknown>, metadata: Record<string, unknown>) =>
      put(number, {
        parent: number > 1 ? number - 1 : undefined,
        values,
        metadata,
        versions: { log: number },
      })
    await add(1, { log: ['old'] }, {})
    await add(2, { log: ['seed'] }, {})
    await add(3, {}, counted('log'))
    await add(4, {}, counted('log'))
    for (const number of [1, 2, 3, 4]) await write(number, 'task', { log: [`after ${number}`] })
    const { getDeltaChannelHistory } = checkpointer as DeltaSaver
    const history = () =>
      getDeltaChannelHistory?.call(checkpointer, { config: at(threadId), channels: ['log'] })
    const before = await history()
    await checkpointer.keepLatest(threadId)
    same(await idsOf(checkpointer, threadId), [4, 3, 2].map(idOf), 'checkpoints')
    same(await history(), before, 'what the channel is read from')
    await add(5, { log: ['all'] }, counted('log'))
    await checkpointer.keepLatest(threadId)
    same(await idsOf(checkpointer, threadId), [idOf(5)], 'checkpoints, once the newest has the value')
    await add(6, { log: ['all'] }, { ...counted('unheard'), delta_writes_versioned: true })
    await checkpointer.keepLatest(threadId)
    same(await idsOf(checkpointer, threadId), [idOf(6)], 'checkpoints, where a channel was never written')
  },
  async 'keep-latest.concurrent'({ checkpointer, unique }) {
    for (let round = 0; round < 5; round++) {
      const threadId = unique()
      await putLine(checkpointer, threadId, [1, 2, 3])
      const shorten = () => checkpointer.keepLatest(threadId)
      const grow = async () => {
        for (let number = 4; number <= 8; number++)
          await putChild(checkpointer, number, number - 1, { threadId })
      }
      await Promise.all([grow(), shorten(), shorten(), shorten()])
      same(await valuesAt(checkpointer, threadId), { a: 'a8', b: 'b' }, 'the newest')
      await shorten()
      same(await idsOf(checkpointer, threadId), [idOf(8)], 'checkpoints')
      same(await valuesAt(checkpointer, threadId), { a: 'a8', b: 'b' }, 'the newest, alone')
    }
  },
  async 'keep-latest.fence'({ checkpointer, threadId, take, fenced }) {
    await putLine(checkpointer, threadId, [1, 2, 3])
    await take(10)
    const old = fenced(10)
    await take(20)
    await refused(old.keepLatest!(threadId), 'FencedError', 'after a take-over')
    same(await idsOf(checkpointer, threadId), [3, 2, 1].map(idOf), 'checkpoints')
    await fenced(20).keepLatest!(threadId)
    same(await idsOf(checkpointer, threadId), [idOf(3)], 'checkpoints of the holder')
  },
}

/** `keepLatest` is optional. Without it, these rules check nothing. */
export const keepLatestRules = /* @__PURE__ */ rulesOf(NAMES, checks).map(
  ({ check, ...rule }): Rule<CheckpointerContext> => ({
    ...rule,
    async check(context) {
      const { checkpointer } = context
      if (checkpointer.keepLatest) await check({ ...context, checkpointer: checkpointer as Shortening })
    },
  }),
)
