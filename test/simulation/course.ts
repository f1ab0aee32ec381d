import { createAccount, Violation } from './account.ts'
import { createClients, type Conversation } from './clients.ts'
import { createCluster } from './cluster.ts'
import { createDatabase, FAIR, type Weather } from './database.ts'
import { checkEnd } from './end.ts'
import type { Program } from './load.ts'
import { createReaders } from './readers.ts'
import { createWorld } from './world.ts'

export interface CourseOptions {
  readonly seed: number
  readonly program: () => Program
  /** Gets each line of the trace. */
  readonly trace?: ((line: string) => void) | undefined
}

export interface CourseResult {
  readonly seed: number
  /** What was wrong. Undefined if nothing was. */
  readonly violation: string | undefined
  /** A number of the whole trace: equal traces have equal numbers. */
  readonly hash: number
  readonly events: number
  readonly calls: number
  readonly virtualMs: number
  readonly runs: number
}

/** Runs a whole cluster with its clients through one course of events, which follows from the seed. */
export async function runCourse({ seed, program, trace: print }: CourseOptions): Promise<CourseResult> {
  const world = createWorld(seed)
  const { random } = world
  let violation: string | undefined
  let isDone = false
  let hash = 0x811c9dc5
  const trace = (process: string, line: string): void => {
    const whole = `${world.now().toFixed(2).padStart(10)} ${process.padEnd(6)} ${line}`
    for (let i = 0; i < whole.length; i++) hash = Math.imul(hash ^ whole.charCodeAt(i), 0x01000193)
    print?.(whole)
  }
  const fail = (error: unknown): void => {
    violation ??=
      error instanceof Violation ? error.message : ((error as Error).stack ?? String(error))
    isDone = true
  }

  process.on('unhandledRejection', fail)

  const account = createAccount(world, fail)
  const database = createDatabase(world, account.watcher, program().memoryStorage)
  const plan = planOf(seed)
  const cluster = createCluster({
    world,
    database,
    program,
    leaseTtlMs: plan.leaseTtlMs,
    runs: plan.runs,
    size: plan.size,
    skewMs: plan.skewMs,
    trace,
    onError: (error) => {
      if (error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError)
        fail(error)
    },
  })
  const conversations: Conversation[] = Array.from({ length: plan.threads }, (_, i) => {
    const agent = random.pick(['graph', 'graph', 'function', 'resumable'] as const)
    return {
      threadId: `t${i}`,
      owner: `o${i % 2}`,
      agent,
      client: world.process(`c${i}`),
      actions: plan.actions,
      stepMs: random.pick([5, 60, 400]),
      forks: random.chance(0.3),
      deletes: random.chance(0.15),
      asks: random.chance(0.6),
    }
  })
  const clients = createClients({ world, cluster, account, trace, conversations, fail })
  const readers = createReaders({ world, cluster, account, trace, fail })

  cluster.startAll()
  const driver = world.process('course')
  world.after(1, driver, () => {
    const work = conversations.map(
      (of) =>
        new Promise<void>((resolve) => {
          const count = 1 + random.below(2)
          for (let i = 0; i < count; i++) readers.follow(of, world.process(`r${of.threadId}.${i}`))
          world.after(random.between(0, 100), of.client, () => {
            clients.live(of).catch(fail).then(resolve)
          })
        }),
    )
    const faults = misfortunes()
    const course = async (): Promise<void> => {
      await faults
      heal()
      await Promise.all(work)
      await checkEnd({ world, cluster, database, account, conversations, clients, readers, plan, trace })
    }
    course()
      .catch(fail)
      .finally(() => {
        isDone = true
      })
  })

  /** Everything that goes wrong, until `plan.faultsMs` have passed. */
  async function misfortunes(): Promise<void> {
    const over = world.now() + plan.faultsMs
    while (world.now() < over && !isDone) {
      await world.sleep(random.between(0, plan.betweenMs))
      if (plan.kinds.length > 0) misfortune(random.pick(plan.kinds))
    }
  }

  function misfortune(kind: Fault): void {
    const alive = cluster.alive()
    const instance = alive.length > 0 ? random.pick(alive) : undefined
    switch (kind) {
      case 'kill':
        if (!instance) return
        cluster.lose(instance, 'is killed')
        return restart()
      case 'close':
        if (!instance) return
        cluster.close(instance)
        return restart()
      case 'freeze':
        if (!instance) return
        world.stop(instance.process, random.between(100, 3 * plan.leaseTtlMs))
        return trace(instance.process.name, 'is stopped')
      case 'jump':
        if (!instance) return
        instance.process.skewMs = Math.round(random.between(-plan.skewMs, plan.skewMs))
        return trace(instance.process.name, `has a clock that is off by ${instance.process.skewMs} ms`)
      case 'weather':
        return change({
          failsBefore: random.pick([0, 0, 0.03, 0.2]),
          failsAfter: random.pick([0, 0, 0.03, 0.2]),
          delayMs: random.pick([1, 5, 50]),
          long: random.pick([0, 0, 0.02]),
          longMs: random.pick([500, 4_000]),
        })
      case 'hang':
        return change({ hangsUntil: world.now() + random.between(100, 1.5 * plan.leaseTtlMs) })
      case 'forget':
        return forget()
      case 'deaf':
        return change({
          lost: random.pick([0, 0.3, 1]),
          late: random.pick([0, 0.3]),
          doubled: random.pick([0, 0.3]),
        })
    }
  }

  function forget(): void {
    world.after(0, cluster.network, async () => {
      const lost = await database.forget(random.between(0, 2_000))
      trace('db', `forgets ${lost} writes`)
      readers.excuse()
      for (const of of conversations) readers.follow(of, world.process(`r${of.threadId}.f`))
    })
  }

  function change(weather: Partial<Weather>): void {
    Object.assign(database.weather, weather)
    trace('db', `weather ${JSON.stringify(weather)}`)
  }

  function restart(): void {
    world.after(random.between(10, 2 * plan.leaseTtlMs), cluster.network, () => cluster.startAll())
  }

  function heal(): void {
    change(FAIR)
    for (const { process } of cluster.alive()) world.resume(process)
    cluster.startAll()
    trace('course', 'nothing goes wrong any more')
  }

  await world.run(() => isDone)
  process.off('unhandledRejection', fail)
  if (!isDone) fail(new Violation('nothing can happen any more, and the course is not over'))
  return {
    seed,
    violation,
    hash: hash >>> 0,
    events: world.events(),
    calls: cluster.calls(),
    virtualMs: world.now(),
    runs: [...account.threads.values()].reduce((sum, { runs }) => sum + runs.size, 0),
  }

  function planOf(of: number): Plan {
    const isQuiet = of % 5 === 0
    const all: Fault[] = ['kill', 'close', 'freeze', 'jump', 'weather', 'hang', 'deaf']
    if (of % 10 === 3) all.push('forget')
    return {
      size: 1 + random.below(3),
      threads: 1 + random.below(3),
      actions: 2 + random.below(5),
      leaseTtlMs: random.pick([2_000, 6_000]),
      runs: random.pick([1, 1_000, 1_000]),
      skewMs: random.pick([0, 100, 10_000]),
      faultsMs: random.pick([2_000, 8_000]),
      betweenMs: random.pick([400, 3_000]),
      kinds: isQuiet ? [] : all.filter(() => random.chance(0.45)),
    }
  }
}

type Fault = 'kill' | 'close' | 'freeze' | 'jump' | 'weather' | 'hang' | 'deaf' | 'forget'

/** What a seed decides about its course. */
export interface Plan {
  readonly size: number
  readonly threads: number
  readonly actions: number
  readonly leaseTtlMs: number
  readonly runs: number
  readonly skewMs: number
  readonly faultsMs: number
  readonly betweenMs: number
  readonly kinds: readonly Fault[]
}
