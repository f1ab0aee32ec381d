import { type OpenedStorage, openStorage } from '../../src/storage/open.ts'
import { BACKENDS, type Backend, type Database } from '../kit/backends.ts'
import { type Follower, follow, type Read } from './follower.ts'
import { type Instance, type InstanceOptions, startInstance } from './process.ts'

const wanted = process.env.DURABILITY_BACKENDS?.split(',')

/** The databases that are installed on this machine. `DURABILITY_BACKENDS=sqlite,postgres` chooses among them. */
export const backends = BACKENDS.filter((backend) => backend.installed()).filter(
  ({ name }) => wanted === undefined || wanted.includes(name),
)

/** The tests that run on one database each, because simulated clusters (`test/simulation`) show the same with more faults. */
export type NightlyTest = 'answers' | 'chaos' | 'commands' | 'delete' | 'freeze' | 'kill'

/** The database of such a test. All of them in the nightly run, which names the tests in `DURABILITY_ALL`. */
export function oneOf(name: Backend['name'], test: NightlyTest): readonly Backend[] {
  if (process.env.DURABILITY_ALL?.split(',').includes(test)) return backends
  const [first] = backends.filter((backend) => backend.name === name)
  return first ? [first] : backends.slice(0, 1)
}

/** Leases are short so that tests are, and long enough for a busy machine to renew them in time. */
export const LEASE_MS = countOf('LEASE_MS', 2_000)
/** The lease for tests that lose no process. */
export const LONG_LEASE_MS = 30_000

/** A database, a handle on it in this process, and instances over it. */
export interface Scene {
  readonly database: Database
  readonly storage: OpenedStorage
  start(options?: Partial<InstanceOptions>): Promise<Instance>
  /** The id of a thread that nobody used before. */
  thread(): string
  /** Follows a thread through one instance or several in turn. */
  follow(threadId: string, ...through: readonly Pick<Instance, 'origin'>[]): Follower
  /** The same, with another way to read a connection. */
  followBy(read: Read, threadId: string, ...through: readonly Pick<Instance, 'origin'>[]): Follower
  /** Kills the instances and removes the database. */
  close(): Promise<void>
}

let threads = 0

export async function setScene(backend: Backend): Promise<Scene> {
  const database = await backend.create()
  const storage = await openStorage(database.url)
  await storage.setup()
  const instances: Instance[] = []
  const followers: Follower[] = []
  function followBy(
    read: Read | undefined,
    threadId: string,
    through: readonly Pick<Instance, 'origin'>[],
  ): Follower {
    let next = 0
    const origin = () => through[next++ % through.length]!.origin
    const follower = follow({ threadId, origin, ...(read && { read }) })
    followers.push(follower)
    return follower
  }
  return {
    database,
    storage,
    async start(options) {
      const instance = await startInstance({
        storageUrl: database.instanceUrl,
        port: 0,
        leaseTtlMs: LEASE_MS,
        drainMs: 0,
        deadlineMs: 5_000,
        ...options,
      })
      instances.push(instance)
      return instance
    },
    thread: () => `thread-${process.pid}-${++threads}`,
    follow: (threadId, ...through) => followBy(undefined, threadId, through),
    followBy: (read, threadId, ...through) => followBy(read, threadId, through),
    async close() {
      for (const follower of followers) follower.close()
      await Promise.all(instances.map((instance) => instance.kill()))
      await storage.close()
      await database.remove()
    },
  }
}

/** Sets a scene for one piece of work. */
export async function inScene<T>(backend: Backend, work: (scene: Scene) => Promise<T>): Promise<T> {
  const scene = await setScene(backend)
  try {
    return await work(scene)
  } finally {
    await scene.close()
  }
}

/** How often a test repeats its work. `DURABILITY_<NAME>` overrides it. */
export function countOf(name: string, fallback: number): number {
  return Number(process.env[`DURABILITY_${name}`] ?? fallback)
}

/** Prints one line with what a test has found. */
export function report(backend: Backend, what: string, figures: string): void {
  process.stdout.write(`${backend.name} · ${what}: ${figures}\n`)
}

/** Runs `count` rounds, a few at once, because most of the time is spent waiting until leases expire. */
export async function rounds(count: number, round: (i: number) => Promise<void>, atOnce = 2): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < count) await round(next++)
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}

export const randomMs = (below: number): number => Math.floor(Math.random() * below)
