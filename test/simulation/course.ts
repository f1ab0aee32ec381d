import { createAccount, Violation } from './account.ts'
import { type Conversation, createClients } from './clients.ts'
import { createCluster, type Trace } from './cluster.ts'
import { createDatabase } from './database.ts'
import { checkEnd } from './end.ts'
import type { Program } from './load.ts'
import { createMisfortunes } from './misfortunes.ts'
import { planOf } from './plan.ts'
import { createReaders } from './readers.ts'
import { createWorld } from './world.ts'

interface CourseOptions {
  readonly seed: number
  readonly program: () => Program
  /** The program of the database, which has no part in what goes wrong and is evaluated once. */
  readonly memoryStorage: Program['memoryStorage']
  /** Gets each line of the trace. */
  readonly print?: ((line: string) => void) | undefined
}

export interface CourseResult {
  readonly seed: number
  /** The promise that was broken. Undefined if none was. */
  readonly violation: string | undefined
  readonly events: number
  /** How many calls of the database the instances made. */
  readonly calls: number
  readonly runs: number
  /** How long it took in virtual time. */
  readonly virtualMs: number
}

/** Runs a whole cluster with its clients through one course of events, which follows from the seed. */
export async function runCourse({
  seed,
  program,
  memoryStorage,
  print,
}: CourseOptions): Promise<CourseResult> {
  const world = createWorld(seed)
  const { random } = world
  const plan = planOf(seed, random)
  let violation: string | undefined
  let isOver = false
  const fail = (error: unknown): void => {
    violation ??= error instanceof Violation ? error.message : ((error as Error)?.stack ?? String(error))
    isOver = true
  }
  process.on('unhandledRejection', fail)
  const trace: Trace = print
    ? (name, line) =>
        print(
          `${world.now().toFixed(2).padStart(10)} ${name.padEnd(6)} ${typeof line === 'string' ? line : line()}`,
        )
    : () => {}

  const account = createAccount(world, fail)
  const database = createDatabase(world, account.watcher, memoryStorage)
  const onError = (error: unknown): void => {
    const isBug = [TypeError, ReferenceError, RangeError].some((kind) => error instanceof kind)
    // Conflicts are between those who change a thread, and end with the first that succeeds.
    const { name, code } = error as { readonly name?: unknown; readonly code?: unknown }
    if (isBug || name === 'ConflictError' || code === 'thread_busy') fail(error)
  }
  const cluster = createCluster({ world, database, program, plan, trace, onError })
  const conversations = Array.from({ length: plan.threads }, (_, i): Conversation => {
    const agent = random.pick(['graph', 'graph', 'function', 'resumable'] as const)
    return {
      threadId: `t${i}`,
      owner: `o${i % 2}`,
      agent,
      client: world.process(`c${i}`),
      actions: plan.actions,
      stepMs: random.pick([5, 60, 400, 2_000]),
      forks: random.chance(0.3),
      deletes: random.chance(0.15),
      asks: random.chance(0.6),
    }
  })
  const clients = createClients({ world, cluster, account, trace, conversations, fail })
  const readers = createReaders({ world, cluster, account, trace, fail })
  const misfortunes = createMisfortunes({
    world,
    cluster,
    database,
    plan,
    trace,
    onForget: () => readers.excuse(),
    onHarm: () => account.harmedAt.push(world.now()),
  })

  const begin = (of: Conversation): Promise<void> =>
    new Promise((resolve, reject) => {
      const count = 1 + random.below(2)
      for (let i = 0; i < count; i++) readers.follow(of, world.process(`r${of.threadId}.${i}`))
      world.after(random.between(0, 100), of.client, () => void clients.live(of).then(resolve, reject))
    })

  async function course(): Promise<void> {
    const work = Promise.all(conversations.map(begin))
    work.catch(fail)
    await misfortunes.happen()
    misfortunes.end()
    await work
    await checkEnd({ world, cluster, database, account, conversations, clients, readers, plan, trace })
    isOver = true
  }
  cluster.startAll()
  world.after(1, world.process('course'), () => void course().catch(fail))
  await world.run(() => isOver)
  process.off('unhandledRejection', fail)
  if (!isOver) fail(new Violation('nothing can happen any more, and the course is not over'))
  return {
    seed,
    violation,
    events: world.events(),
    calls: cluster.calls(),
    runs: [...account.threads.values()].reduce((sum, { runs }) => sum + runs.size, 0),
    virtualMs: world.now(),
  }
}
