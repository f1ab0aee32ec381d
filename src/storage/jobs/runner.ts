import { jitter, startTimer, within } from '../../core/time.ts'
import { atMost, createKeyedSemaphore } from '../coordination/keyed-semaphore.ts'
import type { Doc, Store } from '../store/store.ts'
import { COLLECTION, dueField } from './job.ts'
import type { JobKind, JobReporter, Undelivered } from './kind.ts'
import { claimJob, startWork, type Work, type WorkContext } from './work.ts'

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

/** The state of a runner. */
interface Running {
  readonly options: JobRunnerOptions
  readonly works: WorkContext
  /** The store's clock. */
  readonly now: () => number
  readonly working: Map<string, Work>
  readonly timers: Set<Timer>
  polling: Timer | undefined
  looking: Promise<void>
  isAwake: boolean
  lookedAt: number
  isHeldBack: boolean
  /** The offset of the store's clock from `performance.now()`, which does not jump like the wall clock. */
  ahead: number
  isClosing: boolean
}

export function createJobRunner(options: JobRunnerOptions): JobRunner {
  const { kinds, report } = options
  const now = () => performance.now() + running.ahead
  const running: Running = {
    options,
    works: {
      kinds,
      report,
      now,
      slots: createKeyedSemaphore(atMost<string>(DELIVERIES, () => DELIVERIES_TO_HOST)),
      onUndelivered(undelivered, kind) {
        report(undelivered.error, undelivered.job, kind)
        options.onUndelivered?.(undelivered, kind)
      },
      isClosing: () => running.isClosing,
      lookIn: (ms) => void later(running, ms, wake),
    },
    now,
    working: new Map(),
    timers: new Set(),
    polling: undefined,
    looking: Promise.resolve(),
    isAwake: false,
    lookedAt: Number.NEGATIVE_INFINITY,
    isHeldBack: false,
    ahead: 0,
    isClosing: false,
  }
  let closed: Promise<void> | undefined
  return {
    wake: () => wake(running),
    close() {
      running.isClosing = true
      closed ??= drain(running)
      return closed
    },
  }
}

function later(running: Running, ms: number, then: (running: Running) => void): Timer {
  const timer = startTimer(ms, () => {
    running.timers.delete(timer)
    if (!running.isClosing) then(running)
  })
  running.timers.add(timer)
  return timer
}

/** Searches again when a job is due, and periodically for jobs from other processes. */
function poll(running: Running, dueMs = Number.POSITIVE_INFINITY): void {
  clearTimeout(running.polling)
  running.timers.delete(running.polling!)
  running.polling = later(running, Math.min(dueMs, jitter(running.options.times.claimMs / 3)), wake)
}

function wake(running: Running): void {
  if (running.isAwake || running.isClosing) return
  later(running, Math.max(0, running.lookedAt + LOOK_MS - performance.now()), () => {
    running.looking = running.looking.then(() => look(running))
  })
  running.isAwake = true
}

async function look(running: Running): Promise<void> {
  const { store, kinds, report } = running.options
  running.isAwake = false
  running.isHeldBack = false
  let next: number | undefined = Number.POSITIVE_INFINITY
  try {
    running.ahead = (await store.inspect(COLLECTION)).now - performance.now()
    const dues = await Promise.all([...kinds].map(([name, kind]) => claimDue(running, name, kind)))
    const found = dues.filter((due) => due !== undefined)
    next = found.length > 0 ? Math.min(...found) : undefined
  } catch (error) {
    report(error)
  }
  running.lookedAt = performance.now()
  // Without jobs there is nothing to wait for, unless other processes may add some.
  if (!running.isClosing && (next !== undefined || store.capabilities.shared))
    poll(running, next && next - running.now())
}

/**
 * Claims and starts the due jobs of a kind. Returns the time at which the next one is due, as far as the
 * store was read. Undefined if there are none at all.
 */
async function claimDue(running: Running, name: string, kind: JobKind): Promise<number | undefined> {
  const { store } = running.options
  const field = dueField(name)
  const list = (cursor?: string) =>
    store.list(COLLECTION, { orderBy: field, limit: PAGE, ...(cursor !== undefined && { cursor }) })
  let page = await list()
  if (page.docs.length === 0) return undefined
  for (;;) {
    const at = running.now()
    const dueOf = ({ index }: Doc) => index[field] as number
    const due = page.docs.filter((doc) => dueOf(doc) <= at)
    // In random order, so that processes that search at the same time claim different jobs.
    const todo = due.sort(() => Math.random() - 0.5).values()
    await Promise.all(Array.from({ length: CLAIMED_AT_ONCE }, () => beginAll(running, todo, kind)))
    const next = page.docs.find((doc) => dueOf(doc) > at)
    if (next) return dueOf(next)
    if (page.cursor === undefined || isFull(running, kind) || running.isClosing)
      return Number.POSITIVE_INFINITY
    page = await list(page.cursor)
  }
}

/**
 * Whether no more jobs of a kind are started in this search, because too many deliveries wait for a slot.
 * The remaining jobs are left for other processes. A kind that delivers nothing does not wait for slots.
 */
function isFull(running: Running, { deliver }: JobKind): boolean {
  running.isHeldBack ||= running.works.slots.waiting >= WAITING
  return running.isHeldBack && deliver !== undefined
}

async function beginAll(running: Running, jobs: Iterable<Doc>, kind: JobKind): Promise<void> {
  for (const doc of jobs) {
    if (isFull(running, kind) || running.isClosing) return
    await begin(running, doc)
  }
}

async function begin(running: Running, doc: Doc): Promise<void> {
  const key = JSON.stringify([doc.partition, doc.id])
  const known = running.working.get(key)
  // It was replaced, and starts again when its handler has stopped.
  if (known && doc.version > known.claim.version) known.claim.lose()
  const claim = known ? undefined : await claimJob(claimsOf(running), doc)
  if (!claim) return
  const work = startWork(running.works, claim)
  running.working.set(key, work)
  if (running.isClosing) void work.stopWhenIdle()
  void work.done.then(() => {
    running.working.delete(key)
    if (claim.isLost || (running.isHeldBack && running.works.slots.waiting < WAITING / 2)) wake(running)
  })
}

const claimsOf = ({ options: { store, times }, now }: Running) => ({ store, claimMs: times.claimMs, now })

async function drain(running: Running): Promise<void> {
  for (const timer of running.timers) clearTimeout(timer)
  for (const work of running.working.values()) void work.stopWhenIdle()
  const allDone = async () => {
    await running.looking
    await Promise.all([...running.working.values()].map(({ done }) => done))
  }
  await within(running.options.times.drainMs, allDone())
  await Promise.all([...running.working.values()].map(({ giveBack }) => giveBack()))
}

type Timer = ReturnType<typeof setTimeout>
