import type {
  CheckpointConfig,
  CheckpointListOptions,
  CheckpointTuple,
} from '../../checkpointer/checkpointer.ts'
import { addressOf } from '../../checkpointer/config.ts'
import type { Serde } from '../../checkpointer/serde.ts'
import { matches } from '../../memory/checkpoints.ts'
import { fromText, toText } from '../../text.ts'
import type { Database } from '../database.ts'
import { toUtf8 } from '../store/entries.ts'
import { DOCUMENTS } from '../store/scripts-store.ts'
import { checkpointOf, readCheckpoint, reviveMetadata } from './blobs.ts'
import { LIST_ORDER } from './scripts-saver.ts'
import { loadTuples } from './tuples.ts'

interface Address {
  readonly threadId: string
  readonly checkpoint: string
}

/** Checkpoints whose values are in memory at once. */
const LOADED = 20
/** Checkpoints whose metadata are looked at, at once. */
const LOOKED_AT = 200

/** Newest first. A thread or namespace that is not named costs the ids of all there are. */
export async function* listTuples(
  database: Database,
  serde: Serde,
  config: CheckpointConfig,
  { limit = Number.POSITIVE_INFINITY, before, filter = {} }: CheckpointListOptions = {},
): AsyncGenerator<CheckpointTuple> {
  const isFiltered = Object.keys(filter).length > 0
  let left = limit
  if (left <= 0) return
  for await (const page of addresses(database, config, before)) {
    const fitting = isFiltered ? await fittingOf(database, serde, page, filter) : page
    for (let at = 0; at < fitting.length && left > 0; at += LOADED) {
      const batch = fitting.slice(at, Math.min(at + LOADED, at + left))
      const tuples = await inThreads(batch, (threadId, checkpoints) =>
        loadTuples(
          database,
          serde,
          threadId,
          checkpoints.map((checkpoint) => `c${checkpoint}`),
        ),
      )
      // One may have been deleted since.
      const byAddress = new Map(tuples.flat().map((tuple) => [nameOf(tuple.config), tuple]))
      for (const { threadId, checkpoint } of batch) {
        const tuple = byAddress.get(`${threadId}\0${checkpoint}`)
        if (!tuple) continue
        left -= 1
        yield tuple
      }
    }
    if (left <= 0) return
  }
}

function nameOf(config: CheckpointConfig): string {
  const { threadId, namespace, checkpointId } = addressOf(config)
  return `${threadId}\0${checkpointOf(namespace!, checkpointId!)}`
}

async function fittingOf(
  { run, keys }: Database,
  serde: Serde,
  page: readonly Address[],
  filter: Record<string, unknown>,
): Promise<Address[]> {
  const fitting = new Set<string>()
  await inThreads(page, async (threadId, checkpoints) => {
    const [saved] = keys.thread(threadId)
    const args = checkpoints.map((checkpoint) => `b${checkpoint}`)
    const [, ...bodies] = (await run({ script: DOCUMENTS, keys: [saved], args })) as [
      number,
      ...(Uint8Array | null)[],
    ]
    for (const [i, checkpoint] of checkpoints.entries()) {
      const body = bodies[i]
      if (body && matches(await reviveMetadata(serde, body), filter))
        fitting.add(`${threadId}\0${checkpoint}`)
    }
  })
  return page.filter(({ threadId, checkpoint }) => fitting.has(`${threadId}\0${checkpoint}`))
}

function inThreads<T>(
  page: readonly Address[],
  work: (threadId: string, checkpoints: readonly string[]) => Promise<T>,
): Promise<T[]> {
  const byThread = new Map<string, string[]>()
  for (const { threadId, checkpoint } of page) {
    const group = byThread.get(threadId)
    if (group) group.push(checkpoint)
    else byThread.set(threadId, [checkpoint])
  }
  return Promise.all([...byThread].map(([threadId, checkpoints]) => work(threadId, checkpoints)))
}

async function* addresses(
  database: Database,
  config: CheckpointConfig,
  before: CheckpointConfig | undefined,
): AsyncGenerator<readonly Address[]> {
  const { threadId, namespace, checkpointId } = addressOf(config)
  const end = before && addressOf(before).checkpointId
  if (threadId && namespace !== undefined && checkpointId === undefined) {
    yield* ofNamespace(database, threadId, namespace, end)
    return
  }
  const all: (Address & { readonly id: string })[] = []
  for (const thread of threadId ? [threadId] : await allThreads(database)) {
    for (const checkpoint of await order(database, thread, '(d', '[c', -1)) {
      const [name, id] = readCheckpoint(checkpoint)
      if (namespace !== undefined && name !== namespace) continue
      if (checkpointId !== undefined && id !== checkpointId) continue
      if (end === undefined || id < end) all.push({ threadId: thread, checkpoint, id })
    }
  }
  all.sort(
    (a, b) => compare(b.id, a.id) || compare(b.threadId, a.threadId) || compare(b.checkpoint, a.checkpoint),
  )
  for (let at = 0; at < all.length; at += LOOKED_AT) yield all.slice(at, at + LOOKED_AT)
}

/** Page by page, so that a long history is never in memory as a whole. */
async function* ofNamespace(
  database: Database,
  threadId: string,
  namespace: string,
  end: string | undefined,
): AsyncGenerator<readonly Address[]> {
  const first = `c${toText(namespace)}`
  let from = end === undefined ? `(${first}\x01` : `(c${checkpointOf(namespace, end)}`
  for (;;) {
    const checkpoints = await order(database, threadId, from, `[${first}\0`, LOOKED_AT)
    yield checkpoints.map((checkpoint) => ({ threadId, checkpoint }))
    if (checkpoints.length < LOOKED_AT) return
    from = `(c${checkpoints.at(-1)}`
  }
}

async function order(
  { run, keys }: Database,
  threadId: string,
  from: string,
  to: string,
  count: number,
): Promise<string[]> {
  const [, set] = keys.thread(threadId)
  const members = (await run({
    script: LIST_ORDER,
    keys: [set],
    args: [from, to, String(count)],
  })) as Uint8Array[]
  return members.map((member) => toUtf8(member).slice(1))
}

/** A thread may stand there without a checkpoint, after a put that failed. */
async function allThreads({ run, keys }: Database): Promise<Iterable<string>> {
  const members = (await run({
    script: LIST_ORDER,
    keys: [keys.threads],
    args: ['+', '-', '-1'],
  })) as Uint8Array[]
  return new Set(members.map((member) => fromText(toUtf8(member).split('\0')[0]!)))
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}
