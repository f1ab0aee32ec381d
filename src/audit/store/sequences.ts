import type { Doc, Guard, ListQuery, Op, Store } from '../../storage/store/store.ts'
import { claim, nameOf, outcome, same } from './claims.ts'
import {
  applyCommit,
  EMPTY,
  findDoc,
  liveDocs,
  type Model,
  type ModelDoc,
  type ModelGuard,
  type ModelOp,
  type Step,
  trimModel,
} from './model.ts'
import type { Random } from './random.ts'
import { event, LONG, readAll, type StoreContext } from './rule.ts'

const IDS = ['a', 'b', 'c']

/** `clock`: whether steps may depend on time, because the audit can move the store's clock. */
export function randomSteps(random: Random, count: number, clock: boolean): Step[] {
  let events = 0
  const place = () => ({ collection: random.int(0, 1), id: random.pick(IDS) })
  const ttlMs = () => (clock ? random.pick([50, 150, 1000, LONG]) : LONG)
  const token = () => random.int(1, 12)
  const index = () => ({
    ...(random.chance(0.8) && { k: random.chance(0.8) ? random.int(-2, 2) : random.pick(['', 'x', '1']) }),
    ...(random.chance(0.5) && { owner: random.pick(['u', 'v']) }),
  })
  const guard = (): ModelGuard =>
    random.pick<() => ModelGuard>([
      () => ({ guard: 'version', ...place(), off: random.chance(0.8) ? 0 : random.pick([-1, 1]) }),
      () => ({ guard: 'absent', ...place() }),
      () => ({ guard: 'fence', token: token() }),
      () => ({ guard: 'free' }),
      () => ({ guard: 'head', off: random.chance(0.8) ? 0 : random.pick([-1, 1]) }),
    ])()
  const op = (): ModelOp =>
    random.pick<() => ModelOp>([
      () => ({
        op: 'put',
        ...place(),
        value: { n: events++ },
        index: index(),
        ...(random.chance(0.3) && { ttlMs: ttlMs() }),
      }),
      () => ({ op: 'put', ...place(), value: events++, index: index() }),
      () => ({ op: 'delete', ...place() }),
      () => ({
        op: 'append',
        token: token(),
        texts: random.list(0, 5, () => `${events++}${'x'.repeat(random.int(0, 80))}`),
      }),
      () => ({ op: 'append', token: token(), texts: random.list(1, 40, () => `${events++}`) }),
      () => ({ op: 'claim', owner: random.pick(['m', 'n']), token: token(), ttlMs: ttlMs() }),
      () => ({ op: 'renew', token: token(), ttlMs: ttlMs() }),
      () => ({ op: 'release', token: token() }),
      () => (random.chance(0.3) ? { op: 'clear' } : { op: 'append', token: token(), texts: ['solo'] }),
    ])()
  const step = (): Step => {
    if (clock && random.chance(0.15)) return { step: 'pass', ms: random.pick([49, 50, 120, 1000]) }
    if (random.chance(0.05)) return { step: 'sweep' }
    const partition = random.int(0, 1)
    if (random.chance(0.05)) return { step: 'trim', partition, keepLast: random.int(0, 60) }
    return {
      step: 'commit',
      partition,
      guards: random.list(0, random.pick([0, 2]), guard),
      ops: random.list(0, 4, op),
    }
  }
  return Array.from({ length: count }, step)
}

/** Runs the steps on new partitions and on the model, and compares after each. */
export async function compareWithModel(context: StoreContext, steps: readonly Step[]): Promise<void> {
  const { store } = context
  const partitions = [context.unique(), context.unique()]
  const collections = [context.unique(), context.unique()]
  const models: Model[] = [EMPTY, EMPTY]
  /** The last version of every document that ever was. */
  const versions = new Map<string, number>()
  for (const [at, step] of steps.entries()) {
    const what = `step ${at + 1} ${JSON.stringify(step)}`
    const { now } = await store.inspect(partitions[0]!)
    if (step.step === 'pass') await context.pass(step.ms)
    else if (step.step === 'sweep') await store.sweep()
    else if (step.step === 'trim') {
      await store.trim(partitions[step.partition]!, { keepLast: step.keepLast })
      models[step.partition] = trimModel(models[step.partition]!, step.keepLast)
    } else {
      const key = (collection: number, id: string) => `${step.partition} ${collection} ${id}`
      const model = models[step.partition]!
      const expected = applyCommit(model, step, now)
      const change = {
        guards: step.guards.map((guard) =>
          toGuard(guard, model, collections, (c, id) => versions.get(key(c, id)) ?? 0),
        ),
        ops: step.ops.map((op) => toOp(op, collections)),
      }
      const [error, done] = await outcome(store.commit(partitions[step.partition]!, change))
      if (expected instanceof Set) {
        claim(
          expected.has(nameOf(error)),
          `${what}: expected ${[...expected].join(' or ')}, found ${error ?? 'success'}`,
        )
      } else {
        claim(done !== undefined, `${what}: expected success, found ${error}`)
        const next = expected as Model
        models[step.partition] = next
        same(done.head, next.events.length, `${what}: the head committed`)
        const puts = step.ops.filter((op) => op.op === 'put')
        same(done.versions.length, puts.length, `${what}: versions given`)
        for (const [i, { collection, id }] of puts.entries()) {
          const before = versions.get(key(collection, id)) ?? 0
          claim(done.versions[i]! > before, `${what}: version ${done.versions[i]} after ${before}`)
          versions.set(key(collection, id), done.versions[i]!)
        }
      }
    }
    for (const [i, partition] of partitions.entries()) {
      const version = (collection: number, id: string) => versions.get(`${i} ${collection} ${id}`)
      await comparePartition(store, partition, models[i]!, collections, version, what, at)
    }
    await compareLists(store, partitions, models, collections, what, at)
  }
}

async function comparePartition(
  store: Store,
  partition: string,
  model: Model,
  collections: readonly string[],
  version: (collection: number, id: string) => number | undefined,
  what: string,
  at: number,
): Promise<void> {
  const { head, firstRetained, token, lease, now } = await store.inspect(partition)
  same(
    [head, firstRetained, token, lease && [lease.owner, lease.token]],
    [
      model.events.length,
      model.firstRetained,
      model.token,
      model.lease && [model.lease.owner, model.lease.token],
    ],
    `${what}: head, first retained, token and lease`,
  )
  const after = (at * 7) % (head + 2)
  const limit = 1 + (at % 9)
  const wanted = model.events
    .map((event, i) => ({ seq: i + 1, topic: 'topic', ...event }))
    .filter(({ seq }) => seq > after && seq >= firstRetained)
  same(
    await readAll(store, partition, { after, limit, maxBytes: 10 + at * 5 }),
    wanted,
    `${what}: the log after ${after}`,
  )
  for (const collection of [0, 1]) {
    const doc = await store.get(partition, collections[collection]!, IDS[at % 3]!)
    const kept = findDoc(model, collection, IDS[at % 3]!, now)
    const found = doc && [doc.value, doc.index, doc.version]
    same(found, kept && [kept.value, kept.index, version(collection, kept.id)], `${what}: a document`)
  }
}

async function compareLists(
  store: Store,
  partitions: readonly string[],
  models: readonly Model[],
  collections: readonly string[],
  what: string,
  at: number,
): Promise<void> {
  const { now } = await store.inspect(partitions[0]!)
  const query: ListQuery = {
    ...(at % 2 === 0 && { orderBy: 'k' }),
    ...(at % 3 === 0 && { descending: true }),
    ...(at % 5 === 0 && { where: { owner: 'u' } }),
    ...(at % 7 === 0 && { partition: partitions[0]! }),
  }
  const collection = at % collections.length
  const wanted = partitions
    .flatMap((partition, i) => liveDocs(models[i]!, collection, now).map((doc) => ({ partition, ...doc })))
    .filter((doc) => query.partition === undefined || doc.partition === query.partition)
    .filter((doc) => query.where === undefined || doc.index.owner === 'u')
    .filter((doc) => query.orderBy === undefined || doc.index.k !== undefined)
    .sort((a, b) => (query.descending ? -1 : 1) * compareDocs(a, b, query.orderBy))
    .map(({ partition, id }) => `${partition} ${id}`)
  const found: Doc[] = []
  let cursor: string | undefined
  do {
    const page = await store.list(collections[collection]!, {
      ...query,
      limit: 1 + (at % 4),
      ...(cursor !== undefined && { cursor }),
    })
    found.push(...page.docs)
    cursor = page.cursor
  } while (cursor !== undefined && found.length <= wanted.length)
  same(
    found.map(({ partition, id }) => `${partition} ${id}`),
    wanted,
    `${what}: a list with ${JSON.stringify(query)}`,
  )
  const having = (docs: readonly ModelDoc[]) =>
    docs.filter((doc) => doc.collection === collection && doc.index.k !== undefined).length
  const counted = await store.count(collections[collection]!, 'k')
  const least = models.reduce((sum, model) => sum + having(liveDocs(model, collection, now)), 0)
  // Expired documents may count until a sweep.
  const most = models.reduce((sum, model) => sum + having(model.docs), 0)
  claim(counted >= least && counted <= most, `${what}: counted ${counted}, there are ${least}`)
}

type PlacedDoc = ModelDoc & { readonly partition: string }

function compareDocs(a: PlacedDoc, b: PlacedDoc, orderBy: string | undefined): number {
  const rank = ({ partition, id, index }: PlacedDoc) => {
    const key = orderBy === undefined ? 0 : index[orderBy]!
    return [typeof key === 'number' ? 0 : 1, key, partition, id] as const
  }
  const [left, right] = [rank(a), rank(b)]
  const at = left.findIndex((part, i) => part !== right[i])
  return at < 0 ? 0 : left[at]! < right[at]! ? -1 : 1
}

function toGuard(
  guard: ModelGuard,
  model: Model,
  collections: readonly string[],
  version: (collection: number, id: string) => number,
): Guard {
  switch (guard.guard) {
    case 'version': {
      const { collection, id, off } = guard
      return {
        guard: 'version',
        collection: collections[collection]!,
        id,
        version: version(collection, id) + off,
      }
    }
    case 'absent':
      return { ...guard, collection: collections[guard.collection]! }
    case 'head':
      return { guard: 'head', seq: model.events.length + guard.off }
    default:
      return guard
  }
}

function toOp(op: ModelOp, collections: readonly string[]): Op {
  switch (op.op) {
    case 'put':
    case 'delete':
      return { ...op, collection: collections[op.collection]! }
    case 'append':
      return { op: 'append', token: op.token, events: op.texts.map((text) => event(text)) }
    default:
      return op
  }
}
