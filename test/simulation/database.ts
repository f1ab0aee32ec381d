import type {
  Checkpoint,
  Checkpointer,
  CheckpointTuple,
} from '../../src/storage/checkpointer/checkpointer.ts'
import { copy } from '../../src/storage/checkpointer/copy.ts'
import { DATABASE } from '../../src/storage/checkpointer/fenced.ts'
import { overlay } from '../../src/storage/checkpointer/hooks.ts'
import { UnavailableError } from '../../src/storage/errors.ts'
import type { MemoryStorage, memoryStorage } from '../../src/storage/memory/storage.ts'
import type {
  Change,
  Committed,
  PartitionChange,
  PartitionListener,
  Store,
} from '../../src/storage/store/store.ts'
import type { Trace } from './cluster.ts'
import type { Process, World } from './world.ts'

/** What is wrong with the database and the way to it, at the moment. */
export interface Weather {
  /** How long a message takes each way, in milliseconds, at most. */
  delayMs: number
  /** The share of messages that take up to `longMs`. */
  long: number
  longMs: number
  /** The share of calls that fail before they have an effect. */
  failsBefore: number
  /** The share of writes whose answer is lost after they had their effect. */
  failsAfter: number
  /** The shares of notifications that are lost, late and doubled. */
  lost: number
  late: number
  doubled: number
  /** Until when no call is answered, in virtual milliseconds. */
  hangsUntil: number
  /** Until when every call fails at once. */
  awayUntil: number
}

export const FAIR: Weather = {
  delayMs: 1,
  long: 0,
  longMs: 0,
  failsBefore: 0,
  failsAfter: 0,
  lost: 0,
  late: 0,
  doubled: 0,
  hangsUntil: 0,
  awayUntil: 0,
}

/** A checkpoint as the database has it, when it was put. */
export interface PutCheckpoint {
  readonly threadId: string
  readonly id: string
  readonly parentId: string | undefined
  readonly checkpoint: Checkpoint
  readonly runId: string | undefined
}

/** Told of every write as it takes effect. */
export interface Watcher {
  /** `at`: the time of the database, in milliseconds since 1970. */
  committed(threadId: string, change: Change, committed: Committed, at: number): void
  put(checkpoint: PutCheckpoint): void
  stateDeleted(threadId: string): void
  /** The writes of the last milliseconds are gone. Those that are left are told again, from the first one on. */
  forgotten(lastMs: number): void
}

export type Saved = 'checkpoint' | 'events'

/** The one database of a course. Processes reach it over connections. */
export interface Database {
  readonly weather: Weather
  /** Called when a write of a process has taken effect, before it is told. */
  onWrite: (process: Process) => void
  /** Called when a checkpoint has been written, or events and nothing else, before it is told. */
  onSaved: (what: Saved) => void
  /** What it holds, without delays or failures. */
  readonly store: Store
  readonly checkpointer: Checkpointer
  connect(process: Process, trace: Trace): Connection
  /** Fails every call for so many milliseconds. */
  goAway(ms: number): void
  /** How long it was away. */
  awayMs(): number
  /** How many writes it has forgotten. */
  forgottenWrites(): number
  /** Forgets the last writes, as a database without `fsync` that is killed. Gives how many they are. */
  forget(lastMs: number): Promise<number>
}

export interface Connection {
  readonly store: Store
  readonly checkpointer: Checkpointer
  /** How many calls were made. */
  calls(): number
}

/** The time limit of a call, as every store over a network has one, in milliseconds. */
export const CALL_LIMIT_MS = 5_000

interface Write {
  readonly at: number
  readonly again: (storage: MemoryStorage) => Promise<void>
}

export function createDatabase(
  world: World,
  watcher: Watcher,
  createStorage: typeof memoryStorage,
): Database {
  const database = world.process('db')
  const { random } = database
  const weather: Weather = { ...FAIR }
  const token = Symbol('database')
  let replayedAt: number | undefined
  let awayMs = 0
  let forgottenWrites = 0
  const open = () => createStorage({ now: () => Math.floor(replayedAt ?? world.wallNow()) })
  let storage = open()
  let writes: Write[] = []
  const listeners = new Map<string, Set<(change: PartitionChange) => void>>()

  const delay = (): number =>
    random.chance(weather.long) ? random.between(0, weather.longMs) : random.between(0.05, weather.delayMs)

  /** A write, which is kept to be done again where a restart forgets those after it. */
  async function write<T>(
    effect: (on: MemoryStorage) => Promise<T>,
    tell: (result: T, at: number) => void = () => {},
  ): Promise<T> {
    const result = await effect(storage)
    const at = world.wallNow()
    tell(result, at)
    writes.push({ at, again: async (on) => tell(await effect(on), at) })
    return result
  }

  function announce(threadId: string, change: PartitionChange): void {
    for (const tell of [...(listeners.get(threadId) ?? [])]) tell(change)
  }

  async function commit(threadId: string, change: Change): Promise<Committed> {
    const committed = await write(
      ({ store }) => store.commit(threadId, change),
      (result, at) => watcher.committed(threadId, change, result, at),
    )
    announce(threadId, changeOf(change))
    return committed
  }

  function connect(process: Process, trace: Trace): Connection {
    let calls = 0

    /** One call: there, its effect, and back. Each of them may fail. */
    function call<T>(what: string | (() => string), isWrite: boolean, effect: () => Promise<T>): Promise<T> {
      calls++
      return new Promise<T>((resolve, reject) => {
        let isOver = false
        const end = (how: string, settle: () => void): void => {
          if (isOver) return
          isOver = true
          cancelDeadline()
          trace(process.name, () => `${typeof what === 'string' ? what : what()} ${how}`)
          settle()
        }
        const fail = (how: string, written: 'no' | 'unknown') =>
          end(how, () => reject(new UnavailableError(`The database: ${how}.`, { written })))
        const back = (settle: () => void): void => {
          world.after(delay(), process, settle)
        }
        const cancelDeadline = world.after(CALL_LIMIT_MS, process, () =>
          fail('no answer', isWrite ? 'unknown' : 'no'),
        )
        const arrive = async (): Promise<void> => {
          if (weather.awayUntil > world.now() || random.chance(weather.failsBefore))
            return back(() => fail('fails', 'no'))
          let settle: () => void
          try {
            const result = await effect()
            if (isWrite) self.onWrite(process)
            settle = () => end('ok', () => resolve(result))
          } catch (error) {
            settle = () => end((error as Error).name, () => reject(error))
          }
          if (isWrite && random.chance(weather.failsAfter)) back(() => fail('answer lost', 'unknown'))
          else back(settle)
        }
        const hung = Math.max(0, weather.hangsUntil - world.now())
        // A call to a database that hangs may be lost with it, and may take effect later.
        if (hung > 0 && random.chance(0.5)) return
        world.after(hung + delay(), database, () => void arrive())
      })
    }

    const read = <T>(what: string, effect: () => Promise<T>): Promise<T> => call(what, false, effect)
    const { capabilities } = storage.store

    const store: Store & { [DATABASE]?: unknown } = {
      [DATABASE]: token,
      capabilities: { ...capabilities, name: 'simulated', shared: true, durable: true, coalesceMs: 10 },
      get: (...args) => read(`get ${args.join(' ')}`, () => storage.store.get(...args)),
      getMany: (...args) => read(`getMany ${args[0]}`, () => storage.store.getMany(...args)),
      list: (...args) => read(`list ${args[0]}`, () => storage.store.list(...args)),
      count: (...args) => read(`count ${args[0]}`, () => storage.store.count(...args)),
      commit: (threadId, change) =>
        call(
          () => `commit ${threadId} ${describe(change)}`,
          true,
          async () => {
            const committed = await commit(threadId, change)
            if (change.ops.every(({ op }) => op === 'append')) self.onSaved('events')
            return committed
          },
        ),
      read: (...args) => read(`read ${args[0]} ${args[1].after}`, () => storage.store.read(...args)),
      inspect: (...args) => read(`inspect ${args[0]}`, () => storage.store.inspect(...args)),
      assertFence: (...args) => read(`fence ${args[0]}`, () => storage.store.assertFence(...args)),
      watch(threadId, listener) {
        const told = notifying(process, listener)
        const known = listeners.get(threadId) ?? new Set()
        listeners.set(threadId, known.add(told))
        return () => known.delete(told)
      },
      expired: (...args) => read('expired', () => storage.store.expired(...args)),
      trim: (...args) => call(`trim ${args[0]}`, true, () => write((on) => on.store.trim(...args))),
      sweep: () => call('sweep', true, () => write((on) => on.store.sweep())),
      setup: async () => {},
      close: async () => {},
    }

    function notifying(owner: Process, listener: PartitionListener): (change: PartitionChange) => void {
      return (change) => {
        if (random.chance(weather.lost)) return
        const tell = (): void => listener(change)
        const afterMs = random.chance(weather.late) ? random.between(0, 3_000) : delay()
        world.after(afterMs, owner, tell)
        if (random.chance(weather.doubled)) world.after(afterMs + random.between(0, 1_000), owner, tell)
      }
    }

    const saverOver = (fence?: { readonly partition: string; readonly token: number }): Checkpointer => {
      const on = (opened: MemoryStorage): Checkpointer =>
        fence ? opened.checkpointer.withFence!(fence.partition, fence.token) : opened.checkpointer
      return overlay(Object.assign(Object.create(storage.checkpointer), { [DATABASE]: token }), () => ({
        getTuple: (config) =>
          read(`getTuple ${config.configurable?.thread_id}`, () => on(storage).getTuple(config)),
        async *list(config, options) {
          const tuples = await read(`list checkpoints ${config.configurable?.thread_id}`, async () => {
            const found: CheckpointTuple[] = []
            for await (const tuple of on(storage).list(config, options)) found.push(tuple)
            return found
          })
          yield* tuples
        },
        put(config, checkpoint, metadata, versions) {
          const [kept, about] = [copy(checkpoint) as Checkpoint, copy(metadata) as typeof metadata]
          const {
            thread_id: threadId,
            checkpoint_ns: namespace = '',
            checkpoint_id: parentId,
          } = config.configurable!
          const { run_id: runId } = about as { readonly run_id?: string }
          const tell = (): void => {
            if (namespace === '')
              watcher.put({ threadId, id: checkpoint.id, parentId, checkpoint: kept, runId })
          }
          return call(`put ${threadId} ${checkpoint.id} on ${parentId}`, true, async () => {
            const saved = await write((opened) => on(opened).put(config, kept, about, versions), tell)
            self.onSaved('checkpoint')
            return saved
          })
        },
        putWrites(config, given, taskId) {
          const kept = copy(given) as typeof given
          return call(`putWrites ${config.configurable?.thread_id}`, true, () =>
            write((opened) => on(opened).putWrites(config, kept, taskId)),
          )
        },
        deleteThread: (threadId) =>
          call(`deleteThread ${threadId}`, true, () =>
            write(
              (opened) => on(opened).deleteThread(threadId),
              () => watcher.stateDeleted(threadId),
            ),
          ),
        keepLatest: (...args) =>
          call(`keepLatest ${args[0]}`, true, () => write((opened) => on(opened).keepLatest!(...args))),
        ...(!fence && {
          withFence: (partition: string, held: number) => saverOver({ partition, token: held }),
        }),
      }))
    }
    return { store, checkpointer: saverOver(), calls: () => calls }
  }

  const self: Database = {
    weather,
    onWrite() {},
    onSaved() {},
    get store() {
      return storage.store
    },
    get checkpointer() {
      return storage.checkpointer
    },
    connect,
    goAway(ms) {
      weather.awayUntil = world.now() + ms
      awayMs += ms
    },
    awayMs: () => awayMs,
    forgottenWrites: () => forgottenWrites,
    async forget(lastMs) {
      const kept = writes.filter(({ at }) => at < world.wallNow() - lastMs)
      const lost = writes.length - kept.length
      writes = kept
      forgottenWrites += lost
      storage = open()
      watcher.forgotten(lastMs)
      for (const { at, again } of kept) {
        replayedAt = at
        await again(storage)
      }
      replayedAt = undefined
      return lost
    },
  }
  return self
}

const changeOf = ({ ops }: Change): PartitionChange => ({
  log: ops.some(({ op }) => op === 'append' || op === 'clear'),
  docs: ops.some(({ op }) => op !== 'append'),
})

/** A commit in a line: `append 3, put threads, release`. */
const describe = ({ ops }: Change): string =>
  ops
    .map((op) =>
      op.op === 'append'
        ? `append ${op.events.length}`
        : op.op === 'put' || op.op === 'delete'
          ? `${op.op} ${op.collection}`
          : 'token' in op
            ? `${op.op} ${op.token}`
            : op.op,
    )
    .join(', ')
