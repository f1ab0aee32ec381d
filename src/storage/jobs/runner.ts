import { jitter, startTimer, within } from '../../core/time.ts'
import { atMost, createKeyedSemaphore } from '../coordination/keyed-semaphore.ts'
import type { Doc, Store } from '../store/store.ts'
import { COLLECTION, dueField } from './job.ts'
import type { JobKind, JobReporter, Undelivered } from './kind.ts'
import { claimJob, startWork, type Work } from './work.ts'

export interface JobRunnerOptions {
  readonly store: Store
  /** By name. Jobs of other kinds are left to processes with their handlers. Kinds may be added later. */
  readonly kinds: ReadonlyMap<string, JobKind>
  readonly report: JobReporter
  /** Called when a job is given up, in addition to `report`. It must not throw. */
  readonly onUndelivered?: ((undelivered: Undelivered, kind: JobKind) => void) | undefined
  readonly times: JobTimes
}

export interface JobTimes {
  /** How long an unresponsive process keeps its jobs, in milliseconds. Default: 15,000. */
  readonly claimMs: number
  /** How long deliveries may continue after `close()`, in milliseconds. Default: 5,000. */
  readonly drainMs: number
}

/** Works on the jobs of a store in this process. */
export interface JobRunner {
  /** Looks for due jobs. It repeats the search itself while there are, or may be, jobs. */
  wake(): void
  close(): Promise<void>
}

/** The maximum number of requests in this process: active, active to one host, and waiting. */
const DELIVERIES = 64
const DELIVERIES_TO_HOST = 16
const WAITING = 1_000
/** How many jobs are read, and claimed, at the same time. */
const PAGE = 50
const CLAIMED_AT_ONCE = 8
/** The minimum time between two searches, in milliseconds. */
const LOOK_MS = 20

export function createJobRunner({ store, kinds, report, times, ...options }: JobRunnerOptions): JobRunner {
  const slots = createKeyedSemaphore(atMost<string>(DELIVERIES, () => DELIVERIES_TO_HOST))
  const working = new Map<string, Work>()
  const timers = new Set<Timer>()
  let polling: Timer | undefined
  let looking: Promise<void> = Promise.resolve()
  let isAwake = false
  let lookedAt = Number.NEGATIVE_INFINITY
  let isHeldBack = false
  /** The offset of the store's clock from `performance.now()`, which does not jump like the wall clock. */
  let ahead = 0
  let isClosing = false
  let closed: Promise<void> | undefined

  const now = () => performance.now() + ahead
  const claims = { store, claimMs: times.claimMs, now }
  const onUndelivered = (undelivered: Undelivered, kind: JobKind): void => {
    report(undelivered.error, undelivered.job, kind)
    options.onUndelivered?.(undelivered, kind)
  }
  const works = {
    kinds,
    slots,
    report,
    onUndelivered,
    now,
    isClosing: () => isClosing,
    lookIn: (ms: number): void => void later(ms, wake),
  }

  function later(ms: number, then: () => void): Timer {
    const timer = startTimer(ms, () => {
      timers.delete(timer)
      if (!isClosing) then()
    })
    timers.add(timer)
    return timer
  }

  /** Searches again when a job is due, and periodically for jobs from other processes. */
  function poll(dueMs = Number.POSITIVE_INFINITY): void {
    clearTimeout(polling)
    timers.delete(polling!)
    polling = later(Math.min(dueMs, jitter(times.claimMs / 3)), wake)
  }

  function wake(): void {
    if (isAwake || isClosing) return
    later(Math.max(0, lookedAt + LOOK_MS - performance.now()), () => {
      looking = looking.then(look)
    })
    isAwake = true
  }

  async function look(): Promise<void> {
    isAwake = false
    isHeldBack = false
    let next: number | undefined = Number.POSITIVE_INFINITY
    try {
      ahead = (await store.inspect(COLLECTION)).now - performance.now()
      const dues = await Promise.all([...kinds].map(([name, kind]) => claimDue(name, kind)))
      const found = dues.filter((due) => due !== undefined)
      next = found.length > 0 ? Math.min(...found) : undefined
    } catch (error) {
      report(error)
    }
    lookedAt = performance.now()
    // Without jobs there is nothing to wait for, unless other processes may add some.
    if (!isClosing && (next !== undefined || store.capabilities.shared)) poll(next && next - now())
  }

  /**
   * Claims and starts the due jobs of a kind. Returns the time at which the next one is due, as far as the
   * store was read. Undefined if there are none at all.
   */
  async function claimDue(name: string, kind: JobKind): Promise<number | undefined> {
    const field = dueField(name)
    const list = (cursor?: string) =>
      store.list(COLLECTION, { orderBy: field, limit: PAGE, ...(cursor !== undefined && { cursor }) })
    let page = await list()
    if (page.docs.length === 0) return undefined
    for (;;) {
      const at = now()
      const dueOf = ({ index }: Doc) => index[field] as number
      const due = page.docs.filter((doc) => dueOf(doc) <= at)
      // In random order, so that processes that search at the same time claim different jobs.
      const todo = due.sort(() => Math.random() - 0.5).values()
      await Promise.all(Array.from({ length: CLAIMED_AT_ONCE }, () => beginAll(todo, kind)))
      const next = page.docs.find((doc) => dueOf(doc) > at)
      if (next) return dueOf(next)
      if (page.cursor === undefined || isFull(kind) || isClosing) return Number.POSITIVE_INFINITY
      page = await list(page.cursor)
    }
  }

  /**
   * Whether no more jobs of a kind are started in this search, because too many deliveries wait for a slot.
   * The remaining jobs are left for other processes. A kind that delivers nothing does not wait for slots.
   */
  function isFull({ deliver }: JobKind): boolean {
    isHeldBack ||= slots.waiting >= WAITING
    return isHeldBack && deliver !== undefined
  }

  async function beginAll(jobs: Iterable<Doc>, kind: JobKind): Promise<void> {
    for (const doc of jobs) {
      if (isFull(kind) || isClosing) return
      await begin(doc)
    }
  }

  async function begin(doc: Doc): Promise<void> {
    const key = JSON.stringify([doc.partition, doc.id])
    const known = working.get(key)
    // It was replaced, and starts again when its handler has stopped.
    if (known && doc.version > known.claim.version) known.claim.lose()
    const claim = known ? undefined : await claimJob(claims, doc)
    if (!claim) return
    const work = startWork(works, claim)
    working.set(key, work)
    if (isClosing) void work.stopWhenIdle()
    void work.done.then(() => {
      working.delete(key)
      if (claim.isLost || (isHeldBack && slots.waiting < WAITING / 2)) wake()
    })
  }

  async function drain(): Promise<void> {
    for (const timer of timers) clearTimeout(timer)
    for (const work of working.values()) void work.stopWhenIdle()
    const allDone = async () => {
      await looking
      await Promise.all([...working.values()].map(({ done }) => done))
    }
    await within(times.drainMs, allDone())
    await Promise.all([...working.values()].map(({ giveBack }) => giveBack()))
  }

  return {
    wake,
    close() {
      isClosing = true
      closed ??= drain()
      return closed
    },
  }
}

type Timer = ReturnType<typeof setTimeout>
