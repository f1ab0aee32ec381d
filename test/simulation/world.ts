import { AsyncLocalStorage } from 'node:async_hooks'
import { type Random, randomOf } from './random.ts'

/** A simulated process, client or database. Everything that it waits for ends with it. */
export interface Process {
  readonly name: string
  readonly random: Random
  /** How far its wall clock is ahead, in milliseconds. */
  skewMs: number
  /** Whether nothing of it moves, as after `SIGSTOP`. */
  isStopped: boolean
  isDead: boolean
}

/** Virtual time with one queue of events: nothing else happens in a course. */
export interface World {
  readonly random: Random
  /** Virtual milliseconds since the begin of the course. */
  now(): number
  /** The right time, in milliseconds since 1970. */
  wallNow(): number
  process(name: string, skewMs?: number): Process
  /** Calls `work` in `inMs` milliseconds as `owner`, unless it is dead by then. Returns a function that prevents it. */
  after(inMs: number, owner: Process, work: () => void): () => void
  /** Stops a process for `ms` milliseconds, or until `resume`: what is due in the meantime happens afterwards. */
  stop(process: Process, ms: number): void
  resume(process: Process): void
  /** Settles after `ms` virtual milliseconds of the current process. */
  sleep(ms: number): Promise<void>
  /** Runs events until `isOver`, or until nothing is left to happen. */
  run(isOver: () => boolean): Promise<void>
  /** How many events have happened. */
  events(): number
}

interface Current {
  readonly world: World
  readonly process: Process
}

const current = new AsyncLocalStorage<Current>()

interface Entry {
  at: number
  readonly order: number
  readonly owner: Process
  readonly work: () => void
  isCancelled: boolean
}

/** The first of January 2027, plus one day for each seed: ids that packages make in order stay in order from course to course. */
const EPOCH = Date.UTC(2027, 0, 1)
const DAY = 24 * 60 * 60 * 1_000

const real = {
  setImmediate: globalThis.setImmediate,
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  clearImmediate: globalThis.clearImmediate,
  dateNow: Date.now,
  random: Math.random,
  performanceNow: performance.now.bind(performance),
  randomUUID: crypto.randomUUID.bind(crypto),
  getRandomValues: crypto.getRandomValues.bind(crypto),
  abortTimeout: AbortSignal.timeout.bind(AbortSignal),
}

/** A turn of the real event loop, in which all promises that can settle have settled. */
const turn = (): Promise<void> => new Promise((resolve) => real.setImmediate(resolve))

export function createWorld(seed: number): World {
  install()
  const random = randomOf(seed)
  const epoch = EPOCH + seed * DAY
  const queue = createQueue()
  let time = 0
  let order = 0
  let count = 0
  /** What waits for a process that is stopped. */
  const parked = new Map<Process, Entry[]>()

  const world: World = {
    random,
    now: () => time,
    wallNow: () => epoch + time,
    process: (name, skewMs = 0) => ({
      name,
      random: random.fork(),
      skewMs,
      isStopped: false,
      isDead: false,
    }),
    after(inMs, owner, work) {
      const entry: Entry = { at: time + Math.max(inMs, 0), order: order++, owner, work, isCancelled: false }
      queue.add(entry)
      return () => {
        entry.isCancelled = true
      }
    },
    stop(process, ms) {
      process.isStopped = true
      world.after(ms, clock, () => world.resume(process))
    },
    resume(process) {
      process.isStopped = false
      for (const entry of parked.get(process) ?? []) {
        entry.at = time
        queue.add(entry)
      }
      parked.delete(process)
    },
    sleep: (ms) =>
      new Promise((resolve) => {
        const { process } = current.getStore()!
        world.after(ms, process, resolve)
      }),
    async run(isOver) {
      while (!isOver()) {
        const entry = queue.take()
        if (!entry) return
        const { owner, work } = entry
        if (entry.isCancelled || owner.isDead) continue
        if (entry.at > time) time = entry.at
        if (owner.isStopped) {
          parked.set(owner, [...(parked.get(owner) ?? []), entry])
          continue
        }
        count++
        current.run({ world, process: owner }, work)
        await turn()
      }
    },
    events: () => count,
  }
  const clock = world.process('clock')
  return world
}

/** A binary heap by time, then by order of entry. */
function createQueue() {
  const heap: Entry[] = []
  const isBefore = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order)
  return {
    add(entry: Entry): void {
      let at = heap.push(entry) - 1
      while (at > 0) {
        const parent = (at - 1) >> 1
        if (!isBefore(entry, heap[parent]!)) break
        heap[at] = heap[parent]!
        at = parent
      }
      heap[at] = entry
    },
    take(): Entry | undefined {
      const first = heap[0]
      const last = heap.pop()
      if (!first || heap.length === 0) return first
      let at = 0
      for (;;) {
        let child = 2 * at + 1
        if (child >= heap.length) break
        if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
        if (!isBefore(heap[child]!, last!)) break
        heap[at] = heap[child]!
        at = child
      }
      heap[at] = last!
      return first
    },
  }
}

/** A timer of a simulated process, with the methods of Node's. */
interface Timer {
  cancel(): void
  ref(): Timer
  unref(): Timer
  hasRef(): boolean
}

const timerOf = (cancel: () => void): Timer => {
  const timer: Timer = { cancel, ref: () => timer, unref: () => timer, hasRef: () => false }
  return timer
}

/** Less than any delay that code asks for, so that loops of turns take some time. */
const TURN_MS = 0.01
/** How long a timer without a delay takes, as on a busy machine. LangGraph looks after its store in a loop of them during each run. */
const SOON_MS = 60

let isInstalled = false

/** Replaces clocks, timers, random numbers and ids of this thread. Outside simulated processes they stay what they were. */
function install(): void {
  if (isInstalled) return
  isInstalled = true
  const now = (): number => {
    const store = current.getStore()
    return store ? Math.floor(store.world.wallNow() + store.process.skewMs) : real.dateNow()
  }
  const delayed =
    (fallback: (...args: never[]) => unknown) =>
    (work: (...args: unknown[]) => void, ms?: number, ...args: unknown[]): unknown => {
      const store = current.getStore()
      if (!store) return (fallback as (...args: unknown[]) => unknown)(work, ms, ...args)
      return timerOf(store.world.after(ms || SOON_MS, store.process, () => work(...args)))
    }
  const repeated = (work: (...args: unknown[]) => void, ms?: number, ...args: unknown[]): unknown => {
    const store = current.getStore()
    if (!store) return real.setInterval(work, ms, ...args)
    const { world, process } = store
    let cancel = () => {}
    const next = (): void => {
      cancel = world.after(Math.max(1, ms ?? 1), process, () => {
        next()
        work(...args)
      })
    }
    next()
    return timerOf(() => cancel())
  }
  const cleared = (fallback: (timer: never) => void) => (timer: unknown) => {
    if (typeof timer === 'object' && timer !== null && 'cancel' in timer) (timer as Timer).cancel()
    else fallback(timer as never)
  }
  Object.assign(globalThis, {
    setTimeout: delayed(real.setTimeout as never),
    setInterval: repeated,
    setImmediate(work: (...args: unknown[]) => void, ...args: unknown[]) {
      const store = current.getStore()
      if (!store) return real.setImmediate(work, ...args)
      return timerOf(store.world.after(TURN_MS, store.process, () => work(...args)))
    },
    clearTimeout: cleared(real.clearTimeout),
    clearInterval: cleared(real.clearInterval),
    clearImmediate: cleared(real.clearImmediate as never),
    Date: new Proxy(Date, {
      construct(target, args: unknown[], newTarget) {
        return Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object
      },
    }),
  })
  Date.now = now
  Math.random = () => current.getStore()?.process.random.next() ?? real.random()
  const replace = (target: object, name: string, value: unknown) =>
    Object.defineProperty(target, name, { value, configurable: true, writable: true })
  replace(performance, 'now', () => current.getStore()?.world.now() ?? real.performanceNow())
  replace(crypto, 'getRandomValues', (array: Uint8Array) => {
    const random = current.getStore()?.process.random
    if (!random) return real.getRandomValues(array as Uint8Array<ArrayBuffer>)
    for (let i = 0; i < array.length; i++) array[i] = random.below(256)
    return array
  })
  replace(crypto, 'randomUUID', () => {
    const random = current.getStore()?.process.random
    if (!random) return real.randomUUID()
    const digits = Array.from({ length: 32 }, () => random.below(16).toString(16)).join('')
    const [a, b, c] = [digits.slice(0, 8), digits.slice(8, 12), digits.slice(13, 16)]
    return `${a}-${b}-4${c}-a${digits.slice(17, 20)}-${digits.slice(20)}`
  })
  replace(AbortSignal, 'timeout', (ms: number) => {
    if (!current.getStore()) return real.abortTimeout(ms)
    const controller = new AbortController()
    setTimeout(() => controller.abort(new DOMException('The operation timed out.', 'TimeoutError')), ms)
    return controller.signal
  })
}
