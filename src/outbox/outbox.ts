import { atMost, createKeyedSemaphore } from '../storage/coordination/keyed-semaphore.ts'
import type { Doc, Store } from '../storage/store/store.ts'
import { jitter, startTimer, within } from '../time.ts'
import { claimJob } from './claim.ts'
import type { Deliver } from './delivery/delivery.ts'
import { COLLECTION, dueField, type NewOutboxJob, putJobOp, removeJobOp } from './job.ts'
import {
  type OutboxHandler,
  type OutboxReporter,
  type OutboxTimes,
  startWork,
  type Undelivered,
  type Work,
} from './work.ts'

export interface OutboxOptions {
  readonly store: Store
  /** By kind of job. A job of another kind is left to an instance that has its handler. */
  readonly handlers: Readonly<Record<string, OutboxHandler>>
  readonly deliver: Deliver
  readonly report: OutboxReporter
  /** Told of each thing that is given up: `report` is told of its error, too. Default: nobody else. */
  readonly onUndelivered?: ((undelivered: Undelivered) => void) | undefined
  readonly times?: Partial<OutboxTimes> | undefined
}

/**
 * Jobs that deliver something, kept in the store until they are done. Every instance of a shared store works on them: what a lost
 * process held is continued by another one, from what was saved. Each is delivered once or more, and in its own order.
 */
export interface Outbox {
  /** Stores a job and begins it. One of the same id is replaced. */
  put(partition: string, job: NewOutboxJob): Promise<void>
  /** Removes a job. No delivery of it begins any more. */
  remove(partition: string, id: string): Promise<void>
  /** Looks for jobs that are due: after a commit with `putJobOp`. */
  wake(): void
  /** Starts the periodic looks where timers were forbidden while the module was loaded. Every request may call it. */
  start(): void
  /** Begins no delivery any more, lets those under way end within `drainMs`, and gives all jobs back. */
  close(): Promise<void>
}

/** How many requests of this process are under way at once, how many of them to one host, and how many may wait. */
const DELIVERIES = 64
const DELIVERIES_TO_HOST = 16
const WAITING = 1_000
/** How many jobs are read and claimed at once. */
const PAGE = 50
const CLAIMED_AT_ONCE = 8
/** The least time between two looks, in milliseconds. */
const LOOK_MS = 20

const TIMES: OutboxTimes = {
  claimMs: 15_000,
  retryMs: 1_000,
  maxRetryMs: 300_000,
  giveUpMs: 86_400_000,
  drainMs: 5_000,
}

export function createOutbox(options: OutboxOptions): Outbox {
  const { store, handlers, deliver, report, times: given } = options
  const times = { ...TIMES, ...given }
  const slots = createKeyedSemaphore(atMost<string>(DELIVERIES, () => DELIVERIES_TO_HOST))
  const working = new Map<string, Work>()
  const timers = new Set<Timer>()
  let polling: Timer | undefined
  let looking: Promise<void> = Promise.resolve()
  let isAwake = false
  let lookedAt = Number.NEGATIVE_INFINITY
  let isHeldBack = false
  /** What the clock of the store is ahead of ours. */
  let ahead = 0
  let isClosing = false
  let closed: Promise<void> | undefined

  const now = () => Date.now() + ahead
  const lookIn = (ms: number): void => void later(ms, wake)
  const claims = { store, claimMs: times.claimMs, now }
  const onUndelivered = (undelivered: Undelivered): void => {
    report(undelivered.error, undelivered.job)
    options.onUndelivered?.(undelivered)
  }
  const works = {
    handlers,
    deliver,
    slots,
    times,
    report,
    onUndelivered,
    now,
    isClosing: () => isClosing,
    lookIn,
  }

  function later(ms: number, then: () => void): Timer {
    const timer = startTimer(ms, () => {
      timers.delete(timer)
      if (!isClosing) then()
    })
    timers.add(timer)
    return timer
  }

  /** Looks again when a job is due, and at times for those of others. */
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
      ahead = (await store.inspect(COLLECTION)).now - Date.now()
      const kinds = await Promise.all(Object.keys(handlers).map(claimDue))
      const found = kinds.filter((due) => due !== undefined)
      next = found.length > 0 ? Math.min(...found) : undefined
    } catch (error) {
      report(error)
    }
    lookedAt = performance.now()
    // Without jobs there is nothing to wait for, unless other processes put some.
    if (!isClosing && (next !== undefined || store.capabilities.shared)) poll(next && next - now())
  }

  /** Claims and begins the jobs of a kind that are due. Gives when the next one is, as far as the store was read, and undefined where there are none at all. */
  async function claimDue(kind: string): Promise<number | undefined> {
    const field = dueField(kind)
    const list = (cursor?: string) =>
      store.list(COLLECTION, { orderBy: field, limit: PAGE, ...(cursor !== undefined && { cursor }) })
    let page = await list()
    if (page.docs.length === 0) return undefined
    for (;;) {
      const at = now()
      const dueOf = ({ index }: Doc) => index[field] as number
      const due = page.docs.filter((doc) => dueOf(doc) <= at)
      // At random, so that instances that look together claim different ones.
      const todo = due.sort(() => Math.random() - 0.5).values()
      await Promise.all(Array.from({ length: CLAIMED_AT_ONCE }, () => beginAll(todo)))
      const next = page.docs.find((doc) => dueOf(doc) > at)
      if (next) return dueOf(next)
      if (page.cursor === undefined || isHeldBack || isClosing) return Number.POSITIVE_INFINITY
      page = await list(page.cursor)
    }
  }

  async function beginAll(jobs: Iterable<Doc>): Promise<void> {
    for (const doc of jobs) {
      // The rest stays for others, or until there is room again.
      isHeldBack ||= slots.waiting >= WAITING
      if (isHeldBack || isClosing) return
      await begin(doc)
    }
  }

  async function begin(doc: Doc): Promise<void> {
    const key = keyOf(doc.partition, doc.id)
    const known = working.get(key)
    // It was replaced, and begins anew when its handler has stopped.
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

  const outbox: Outbox = {
    async put(partition, job) {
      await store.commit(partition, { ops: [putJobOp(job)] })
      working.get(keyOf(partition, job.id))?.claim.lose()
      wake()
    },
    async remove(partition, id) {
      await store.commit(partition, { ops: [removeJobOp(id)] })
      working.get(keyOf(partition, id))?.claim.lose()
    },
    wake,
    start() {
      if (!polling && !isClosing) poll()
    },
    close() {
      isClosing = true
      closed ??= drain()
      return closed
    },
  }
  try {
    outbox.start()
  } catch {} // Workers allow no timers before the first request.
  return outbox
}

type Timer = ReturnType<typeof setTimeout>

const keyOf = (partition: string, id: string): string => JSON.stringify([partition, id])
