import type {
  CheckpointConfig,
  Checkpointer,
  CheckpointListOptions,
  CheckpointTuple,
} from '../../storage/checkpointer/checkpointer.ts'
import { type Checks, rulesOf, same } from '../check.ts'
import { at, type CheckpointerContext, idOf, listAll, putDraft, valuesAt } from './rule.ts'

const NAMES = {
  'list.order': 'lists newest first, also across namespaces',
  'list.clocks': 'treats the checkpoint that was put last as the newest, whatever clock generated its id',
  'list.filter': 'filters by equality on metadata before it applies the limit',
  'writes.places': 'keeps the first write of an index, and the last one of the special channels',
  'writes.concurrent': 'keeps concurrent writes of many tasks, including those that precede their checkpoint',
  'threads.concurrent': 'keeps threads that are written concurrently separate',
  'threads.delete':
    'deletes the checkpoints and writes of every namespace of a thread, and of no other thread',
}

const checks: Checks<keyof typeof NAMES, CheckpointerContext> = {
  async 'list.order'({ checkpointer, threadId, put, unique }) {
    for (const number of [1, 2, 4, 6]) await put(number)
    for (const number of [3, 7]) await put(number, { namespace: 'child:1' })
    await put(5, { namespace: 'child:2' })
    await putDraft(checkpointer, 8, { threadId: unique() })
    const ids = numbersOf(checkpointer)
    same(await ids(at(threadId)), [6, 4, 2, 1], 'one namespace')
    same(await ids(at(threadId, undefined, 'child:1')), [7, 3], 'another namespace')
    const whole = { configurable: { thread_id: threadId } }
    same(await ids(whole), [7, 6, 5, 4, 3, 2, 1], 'all namespaces')
    same(await ids(whole, { limit: 3 }), [7, 6, 5], 'a limit')
    same(await ids(whole, { limit: 0 }), [], 'a limit of none')
    same(await ids(whole, { before: at(threadId, idOf(4)), limit: 2 }), [3, 2], 'before an id')
    same(await ids(at(threadId, idOf(4))), [4], 'one id')
  },
  async 'list.clocks'({ checkpointer, threadId, put, valuesOf }) {
    const add = (number: number, parent?: number) =>
      put(number, { parent, values: { number }, versions: { number } })
    const ids = numbersOf(checkpointer)
    const before = (number: number) => ({ before: at(threadId, idOf(number)) })
    await add(5)
    await add(3, 5)
    await add(4, 3)
    await put(9, { namespace: 'child' })
    same(await valuesOf(), { number: 4 }, 'the newest')
    await add(3, 5)
    same(await valuesOf(), { number: 4 }, 'the newest, after an older one was put again')
    await add(7, 4)
    await add(1, 7)
    await add(2, 1)
    same(await valuesOf(), { number: 2 }, 'the newest, behind one of a right clock')
    const all = at(threadId)
    same(await ids(all), [2, 1, 7, 4, 3, 5], 'all')
    same(await ids(all, { limit: 2 }), [2, 1], 'a limit')
    same(await ids(all, before(7)), [4, 3, 5], 'before one whose id is the greatest')
    same(await ids(all, before(3)), [5], 'before one that came late')
    same(await ids(at(threadId, idOf(4)), before(7)), [4], 'one, before another')
    same(await ids(at(threadId, idOf(7)), before(4)), [], 'one, before an older one')
    const ofAll = await ids({ configurable: { thread_id: threadId } })
    const ofRoot = ofAll.filter((number) => number < 9)
    same(ofRoot, [2, 1, 7, 4, 3, 5], 'of all namespaces')
  },
  async 'list.filter'({ checkpointer, threadId, put }) {
    for (let number = 1; number <= 6; number++) {
      const metadata = { source: number % 2 ? 'loop' : 'update', who: number < 4 ? 'u' : 'v', empty: '' }
      await put(number, { metadata })
    }
    const steps = async (filter: Record<string, unknown>, limit = 10) =>
      (await listAll(checkpointer, at(threadId), { filter, limit })).map(({ metadata }) => metadata?.step)
    same(await steps({ source: 'loop' }), [5, 3, 1], 'one key')
    same(await steps({ source: 'loop', who: 'u' }), [3, 1], 'two keys')
    same(await steps({ who: 'u' }, 2), [3, 2], 'with a limit')
    same(await steps({ step: 4 }), [4], 'a number')
    same(await steps({ step: '4' }), [], 'a number asked as text')
    same(await steps({ unheard: 1 }), [], 'a key nobody has')
    same(await steps({}), [6, 5, 4, 3, 2, 1], 'no filter')
  },
  async 'writes.places'({ checkpointer, threadId, put, write, tuple }) {
    await put(1)
    await write(1, 'task 2', { a: 1, b: 2 })
    await write(1, 'task 2', { a: 'late', b: 'late', c: 3 })
    await write(1, 'task 1', { a: 4 })
    await write(1, 'task 1', { __interrupt__: 'first', __resume__: 'first' })
    await write(1, 'task 1', { __resume__: 'second', __interrupt__: 'second' })
    const { pendingWrites } = (await tuple(1))!
    const wanted = [
      'task 1 __interrupt__ second',
      'task 1 __resume__ second',
      'task 1 a 4',
      'task 2 a 1',
      'task 2 b 2',
      'task 2 c 3',
    ]
    same(linesOf(pendingWrites), wanted, 'writes')
    const [listed] = await listAll(checkpointer, at(threadId))
    same(listed?.pendingWrites, pendingWrites, 'the writes that list gives')
  },
  async 'writes.concurrent'({ put, write, tuple }) {
    const tasks = Array.from({ length: 20 }, (_, i) => `task ${String(i).padStart(2, '0')}`)
    const writes = tasks.map((task) => write(1, task, { a: task, b: task }))
    await Promise.all([...writes, put(1, { values: { a: 0 } })])
    const wanted = tasks.flatMap((task) => [`${task} a ${task}`, `${task} b ${task}`])
    same(linesOf((await tuple(1))?.pendingWrites), wanted, 'writes')
  },
  async 'threads.concurrent'({ checkpointer, unique }) {
    const threads = Array.from({ length: 15 }, unique)
    const run = async (threadId: string) => {
      for (let number = 1; number <= 5; number++) {
        const parent = number > 1 ? number - 1 : undefined
        const values = { threadId, number }
        await putDraft(checkpointer, number, { threadId, parent, values, versions: { threadId: 1, number } })
      }
    }
    await Promise.all(threads.map(run))
    for (const threadId of threads) {
      same(await valuesAt(checkpointer, threadId), { threadId, number: 5 }, 'the newest')
      same((await listAll(checkpointer, at(threadId))).length, 5, 'checkpoints')
    }
  },
  async 'threads.delete'({ checkpointer, threadId, put, tuple, unique }) {
    const other = unique()
    const fill = async (thread: string) => {
      for (const namespace of ['', 'child', 'child|grandchild']) {
        await putDraft(checkpointer, 1, { threadId: thread, namespace, values: { a: 'old' } })
        await checkpointer.putWrites(at(thread, idOf(1), namespace), [['a', 'old']], 'task')
      }
    }
    await fill(threadId)
    await fill(other)
    await checkpointer.deleteThread(threadId)
    await checkpointer.deleteThread(threadId)
    await checkpointer.deleteThread(unique())
    same(await listAll(checkpointer, { configurable: { thread_id: threadId } }), [], 'the thread')
    same((await listAll(checkpointer, { configurable: { thread_id: other } })).length, 3, 'the other thread')
    await put(1, { versions: { a: 1 }, changed: {} })
    const newest = (await tuple())!
    same([newest.checkpoint.channel_values, newest.pendingWrites ?? []], [{}, []], 'a new thread of that id')
  },
}

export const threadRules = /* @__PURE__ */ rulesOf(NAMES, checks)

const numbersOf =
  (saver: Checkpointer) =>
  async (config: CheckpointConfig, options?: CheckpointListOptions): Promise<number[]> =>
    (await listAll(saver, config, options)).map(({ checkpoint }) => Number(checkpoint.id.slice(-12)))

const linesOf = (writes: CheckpointTuple['pendingWrites']): string[] | undefined =>
  writes?.map((write) => write.join(' ')).sort()
