import type { Guard, ListQuery, Op } from '../../storage/store/store.ts'
import { claim, nameOf, outcome, same } from '../check.ts'
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
import { append, headIs, isAbsent, isAt, LONG, listAll, pathOf, readAll, type StoreContext } from './rule.ts'

const IDS = ['a', 'b', 'c']

/** `clock`: whether steps may depend on time, because the audit can advance the store's clock. */
export function randomSteps(random: Random, count: number, clock: boolean): Step[] {
  let events = 0
  const document = () => ({ collection: random.int(0, 1), id: random.pick(IDS) })
  const ttlMs = () => (clock ? random.pick([50, 150, 1000, LONG]) : LONG)
  const token = () => random.int(1, 12)
  const index = () => ({
    ...(random.chance(0.8) && { k: random.chance(0.8) ? random.int(-2, 2) : random.pick(['', 'x', '1']) }),
    ...(random.chance(0.5) && { owner: random.pick(['u', 'v']) }),
  })
  const guard = (): ModelGuard =>
    random.pick<() => ModelGuard>([
      () => ({ guard: 'version', ...document(), off: random.chance(0.8) ? 0 : random.pick([-1, 1]) }),
      () => ({ guard: 'absent', ...document() }),
      () => ({ guard: 'fence', token: token() }),
      () => ({ guard: 'free' }),
      () => ({ guard: 'head', off: random.chance(0.8) ? 0 : random.pick([-1, 1]) }),
    ])()
  const op = (): ModelOp =>
    random.pick<() => ModelOp>([
      () => ({
        op: 'put',
        ...document(),
        value: { n: events++ },
        index: index(),
        ...(random.chance(0.3) && { ttlMs: ttlMs() }),
      }),
      () => ({ op: 'put', ...document(), value: events++, index: index() }),
      () => ({ op: 'delete', ...document() }),
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

/** Runs the steps on new partitions and on the model, and compares them after each step. */
export async function compareWithModel(context: StoreContext, steps: readonly Step[]): Promise<void> {
  const { store, unique, pass } = context
  const compared: Compared = {
    store,
    pass,
    partitions: [unique(), unique()],
    collections: [unique(), unique()],
    models: [EMPTY, EMPTY],
    versions: new Map(),
  }
  for (const [at, step] of steps.entries()) {
    const what = `step ${at + 1} ${JSON.stringify(step)}`
    await take(compared, step, what)
    for (const index of compared.partitions.keys()) await comparePartition(compared, index, at, what)
    await compareLists(compared, at, what)
  }
}

interface Compared extends Pick<StoreContext, 'store' | 'pass'> {
  readonly partitions: readonly [string, string]
  readonly collections: readonly string[]
  readonly models: Model[]
  /** The last version of every document that ever existed. */
  readonly versions: Map<string, number>
}

const keyOf = (partition: number, collection: number, id: string) => `${partition} ${collection} ${id}`
const clockOf = async ({ store, partitions }: Compared) => (await store.inspect(partitions[0])).now

async function take(compared: Compared, step: Step, what: string): Promise<void> {
  const { store, pass, partitions, models } = compared
  if (step.step === 'pass') return pass(step.ms)
  if (step.step === 'sweep') return void (await store.sweep())
  const { partition } = step
  if (step.step === 'commit') return commit(compared, step, what)
  await store.trim(partitions[partition]!, { keepLast: step.keepLast })
  models[partition] = trimModel(models[partition]!, step.keepLast)
}

async function commit(compared: Compared, step: Step & { step: 'commit' }, what: string): Promise<void> {
  const { store, partitions, collections, models, versions } = compared
  const { partition } = step
  const model = models[partition]!
  const expected = applyCommit(model, step, await clockOf(compared))
  const versionOf = (collection: number, id: string) => versions.get(keyOf(partition, collection, id)) ?? 0
  const guards = step.guards.map((guard) => toGuard(guard, model, collections, versionOf))
  const ops = step.ops.map((op) => toOp(op, collections))
  const [error, done] = await outcome(store.commit(partitions[partition]!, { guards, ops }))
  if (expected instanceof Set) {
    const wanted = [...expected].join(' or ')
    claim(expected.has(nameOf(error)), `${what}: expected ${wanted}, found ${error ?? 'success'}`)
    return
  }
  claim(done !== undefined, `${what}: expected success, found ${error}`)
  const next = expected as Model
  models[partition] = next
  same(done.head, next.events.length, `${what}: the head committed`)
  const puts = step.ops.filter((op) => op.op === 'put')
  same(done.versions.length, puts.length, `${what}: versions given`)
  for (const [i, { collection, id }] of puts.entries()) {
    const [before, version] = [versionOf(collection, id), done.versions[i]!]
    claim(version > before, `${what}: version ${version} after ${before}`)
    versions.set(keyOf(partition, collection, id), version)
  }
}

async function comparePartition(compared: Compared, index: number, at: number, what: string): Promise<void> {
  const { store, partitions, collections, models, versions } = compared
  const [partition, model] = [partitions[index]!, models[index]!]
  const { head, firstRetained, token, lease, now } = await store.inspect(partition)
  const held = (one: Model['lease']) => one && [one.owner, one.token]
  const seen = [head, firstRetained, token, held(lease)]
  const kept = [model.events.length, model.firstRetained, model.token, held(model.lease)]
  same(seen, kept, `${what}: head, first retained, token and lease`)
  const after = (at * 7) % (head + 2)
  const query = { after, limit: 1 + (at % 9), maxBytes: 10 + at * 5 }
  const events = model.events
    .map((event, i) => ({ seq: i + 1, topic: 'topic', ...event }))
    .filter(({ seq }) => seq > after && seq >= firstRetained)
  same(await readAll(store, partition, query), events, `${what}: the log after ${after}`)
  const id = IDS[at % 3]!
  for (const collection of [0, 1]) {
    const found = await store.get(partition, collections[collection]!, id)
    const doc = findDoc(model, collection, id, now)
    const wanted = doc && [doc.value, doc.index, versions.get(keyOf(index, collection, id))]
    same(found && [found.value, found.index, found.version], wanted, `${what}: a document`)
  }
}

async function compareLists(compared: Compared, at: number, what: string): Promise<void> {
  const { store, partitions, collections, models } = compared
  const now = await clockOf(compared)
  const query: ListQuery = {
    limit: 1 + (at % 4),
    ...(at % 2 === 0 && { orderBy: 'k' }),
    ...(at % 3 === 0 && { descending: true }),
    ...(at % 5 === 0 && { where: { owner: 'u' } }),
    ...(at % 7 === 0 && { partition: partitions[0] }),
  }
  const collection = at % collections.length
  const live = models.map((model) => liveDocs(model, collection, now))
  const wanted = live
    .flatMap((docs, i) => docs.map((doc) => ({ partition: partitions[i]!, ...doc })))
    .filter((doc) => query.partition === undefined || doc.partition === query.partition)
    .filter((doc) => query.where === undefined || doc.index.owner === 'u')
    .filter((doc) => query.orderBy === undefined || doc.index.k !== undefined)
    .sort((a, b) => (query.descending ? -1 : 1) * compareDocs(a, b, query.orderBy))
    .map(pathOf)
  const found = await listAll(store, collections[collection]!, query, wanted.length)
  same(found, wanted, `${what}: a list with ${JSON.stringify(query)}`)
  const having = (docs: readonly ModelDoc[]) =>
    docs.filter((doc) => doc.collection === collection && doc.index.k !== undefined).length
  const counted = await store.count(collections[collection]!, 'k')
  const least = live.reduce((sum, docs) => sum + having(docs), 0)
  // Expired documents may be counted until a sweep.
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
      return isAt(collections[collection]!, id, version(collection, id) + off)
    }
    case 'absent':
      return isAbsent(collections[guard.collection]!, guard.id)
    case 'head':
      return headIs(model.events.length + guard.off)
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
      return append(op.token, ...op.texts)
    default:
      return op
  }
}
