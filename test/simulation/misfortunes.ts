import type { Cluster, Instance, Trace } from './cluster.ts'
import { type Database, FAIR, type Saved, type Weather } from './database.ts'
import type { Misfortune, Plan } from './plan.ts'
import type { World } from './world.ts'

interface Misfortunes {
  readonly world: World
  readonly cluster: Cluster
  readonly database: Database
  readonly plan: Plan
  readonly trace: Trace
  /** Called when the database has forgotten something. */
  readonly onForget: () => void
  /** Called when an instance was killed, closed or stopped. */
  readonly onHarm: () => void
}

export function createMisfortunes({ world, cluster, database, plan, trace, onForget, onHarm }: Misfortunes) {
  const { random } = world.process('fate')

  function change(weather: Partial<Weather>): void {
    Object.assign(database.weather, weather)
    trace('db', () => `weather ${JSON.stringify(weather)}`)
  }

  const restart = (): void =>
    void world.after(random.between(10, 2 * plan.leaseTtlMs), cluster.network, () => cluster.startAll())

  /** What is to happen to the process that makes the next write but so many. */
  const ambushes: { left: number; readonly work: (instance: Instance) => void }[] = []
  database.onWrite = (process) => {
    const [first] = ambushes
    if (!first || first.left-- > 0) return
    ambushes.shift()
    const instance = cluster.alive().find((one) => one.process === process)
    if (instance) first.work(instance)
  }

  /** Something happens to an instance: now, or in the middle of its work. */
  const toInstance = (strike: (instance: Instance) => void, harms: boolean) => (): void => {
    const work = (instance: Instance): void => {
      if (harms) onHarm()
      strike(instance)
    }
    const alive = cluster.alive()
    if (random.chance(0.5)) ambushes.push({ left: random.below(12), work })
    else if (alive.length > 0) work(random.pick(alive))
  }

  /** What takes longer than the moment in which it begins. */
  const under: Promise<void>[] = []

  /** The database is away for longer than a lease, again and again, and back for a moment in between. */
  async function comeAndGo(): Promise<void> {
    for (let times = 1 + random.below(6); times > 0; times--) {
      const awayMs = random.between(1, 1.5) * plan.leaseTtlMs
      database.goAway(awayMs)
      trace('db', `is away for ${Math.round(awayMs)} ms`)
      await world.sleep(awayMs + random.between(20, plan.leaseTtlMs / 2))
    }
  }

  async function forget(lastMs: number): Promise<void> {
    const lost = await database.forget(lastMs)
    trace('db', `forgets ${lost} writes`)
    onForget()
  }

  /** The next checkpoint, or the next events, that a process believes to be written, and nothing else. */
  function forgetNext(lost: Saved): void {
    database.onSaved = (what) => {
      if (what !== lost) return
      database.onSaved = () => {}
      under.push(forget(0))
    }
  }

  const strike: Readonly<Record<Misfortune, () => void>> = {
    kill: toInstance((instance) => {
      cluster.lose(instance, 'is killed')
      restart()
    }, true),
    close: toInstance((instance) => {
      cluster.close(instance)
      restart()
    }, true),
    stop: toInstance(({ process }) => {
      world.stop(process, random.between(100, 3 * plan.leaseTtlMs))
      trace(process.name, 'is stopped')
    }, true),
    jump: toInstance(({ process }) => {
      process.skewMs = Math.round(random.between(-plan.skewMs, plan.skewMs))
      trace(process.name, `has a clock that is off by ${process.skewMs} ms`)
    }, false),
    weather: () =>
      change({
        failsBefore: random.pick([0, 0, 0.03, 0.2]),
        failsAfter: random.pick([0, 0, 0.03, 0.2]),
        delayMs: random.pick([1, 5, 50]),
        long: random.pick([0, 0, 0.02]),
        longMs: random.pick([500, 4_000]),
      }),
    hang: () => change({ hangsUntil: world.now() + random.between(100, 1.5 * plan.leaseTtlMs) }),
    away() {
      if (database.awayMs() === 0) under.push(comeAndGo())
    },
    deaf: () =>
      change({
        lost: random.pick([0, 0.3, 1]),
        late: random.pick([0, 0.3]),
        doubled: random.pick([0, 0.3]),
      }),
    forget() {
      if (random.chance(0.7)) under.push(forget(random.between(0, 2_000)))
      else forgetNext(random.pick(['checkpoint', 'events']))
    },
  }

  return {
    /** Everything that goes wrong. Settles when the last thing has happened. */
    async happen(): Promise<void> {
      const over = world.now() + plan.troubleMs
      while (world.now() < over) {
        await world.sleep(random.between(0, plan.betweenMs))
        if (plan.kinds.length > 0) strike[random.pick(plan.kinds)]()
      }
      await Promise.all(under)
    },
    /** From now on nothing goes wrong. */
    end(): void {
      change(FAIR)
      ambushes.length = 0
      database.onSaved = () => {}
      cluster.resume()
      cluster.startAll()
      trace('course', 'nothing goes wrong any more')
    },
  }
}
