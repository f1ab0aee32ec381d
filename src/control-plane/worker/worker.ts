import { reportError } from '../../core/http/index.ts'
import { jitter, startTimer } from '../../core/time.ts'
import { createKeyedSemaphore, fairShare } from '../../storage/coordination/keyed-semaphore.ts'
import { pagesOf } from '../../storage/store/pages.ts'
import type { Running } from '../deployers/deployer.ts'
import { DEPLOYMENTS, WORK } from '../records/stored.ts'
import type { WorkerContext, WorkerTimes } from './context.ts'
import { claimDeployment, type Lease } from './lease.ts'
import { type Reconciler, startReconciler } from './reconciler.ts'

export interface WorkerOptions
  extends Pick<
    WorkerContext,
    'store' | 'deployer' | 'logs' | 'uploads' | 'secrets' | 'opsOf' | 'onError' | 'now'
  > {
  readonly times?: Partial<WorkerTimes> | undefined
  /** The maximum number of revisions that this process builds at once. Default 2. */
  readonly builds?: number | undefined
  /** The maximum number of servers that this process starts at once. Default 2. */
  readonly starts?: number | undefined
  /** A name that this instance's next process has again. Default: a new one for each process. */
  readonly instance?: string | undefined
}

const TIMES: WorkerTimes = {
  leaseMs: 15_000,
  prepareMs: 600_000,
  buildMs: 1_800_000,
  deployMs: 900_000,
  graceMs: 15_000,
  retryMs: 1_000,
}

export type Worker = ReturnType<typeof createWorker>

/** Moves revisions through their statuses. Workers that share a store divide the deployments by leases. */
export function createWorker({
  times,
  builds = 2,
  starts = 2,
  instance = crypto.randomUUID(),
  ...options
}: WorkerOptions) {
  const closed = new AbortController()
  const work: Work = {
    ...options,
    times: { ...TIMES, ...times },
    instance,
    isHosted: options.deployer.recover !== undefined,
    builds: createKeyedSemaphore(fairShare(builds)),
    starts: createKeyedSemaphore(fairShare(starts)),
    closing: closed.signal,
    held: new Map(),
    missed: new Set(),
    orphaned: new Map(),
    looking: Promise.resolve(),
    isAwake: false,
    takesBack: true,
    polling: undefined,
  }
  let closing: Promise<void> | undefined

  return {
    wake: (): void => wake(work),
    /** Starts to look for work regularly. May be called more than once. */
    start(): void {
      if (work.polling !== undefined || closed.signal.aborted) return
      poll(work)
      wake(work)
    },
    /** Does everything that is due now, and resolves when each deployment is idle. */
    async reconcile(): Promise<{ readonly deployments: number }> {
      const before = new Set(work.held.keys())
      const looking = looked(work)
      await looking.catch(() => {})
      const mine = [...work.held].filter(([id]) => !before.has(id))
      await Promise.all([...work.held.values()].map(({ reconciler }) => reconciler.rested()))
      await looking
      await sweep(work)
      return { deployments: mine.length }
    },
    /**
     * Stops phases, which other processes start again, ends what runs in this process, and releases the
     * leases.
     */
    close: (): Promise<void> => (closing ??= close(work, closed)),
  }
}

interface Work extends WorkerContext {
  readonly held: Map<string, { readonly lease: Lease; readonly reconciler: Reconciler }>
  /** Deployments that were due while another process held them. */
  readonly missed: Set<string>
  /** Servers that run here although their deployment's lease was lost. */
  readonly orphaned: Map<string, Running>
  looking: Promise<void>
  isAwake: boolean
  /** During the first scan, leases under this name belong to the previous process. */
  takesBack: boolean
  polling: ReturnType<typeof setTimeout> | undefined
}

const report = ({ onError }: Work, error: unknown): void => void reportError(error, onError)

/** Claims all deployments that have work and that no process holds. */
async function look(work: Work): Promise<void> {
  const { store, closing, held, missed, orphaned } = work
  work.isAwake = false
  const orphans = new Map(orphaned)
  const failures = new Map<string, unknown>()
  for await (const docs of pagesOf(store, DEPLOYMENTS, { orderBy: WORK }))
    for (const { id } of docs) {
      if (closing.aborted) return
      if (held.has(id)) missed.add(id)
      // A deployment that cannot be claimed must not delay the others.
      else await begin(work, id).catch((error: unknown) => failures.set(id, error))
    }
  work.takesBack = false
  // Another process has taken or deleted the deployment.
  for (const [id, running] of orphans)
    if (!failures.has(id) && orphaned.delete(id)) await stopOrphan(work, id, running)
  const [failure] = failures.values()
  if (failures.size > 0) throw failure
}

async function stopOrphan(work: Work, deploymentId: string, running: Running): Promise<void> {
  const given = { deploymentId, name: '', owner: null, signal: work.closing, log: () => {} }
  await work.deployer.stop(running, given).catch((error) => report(work, error))
}

async function begin(work: Work, id: string): Promise<void> {
  const { closing, held, missed, orphaned } = work
  const lease = await claimDeployment(work, id, work.takesBack)
  if (!lease) return
  orphaned.delete(id)
  missed.delete(id)
  const reconciler = startReconciler(lease)
  held.set(id, { lease, reconciler })
  void reconciler.done.then(() => {
    if (closing.aborted) return
    held.delete(id)
    if (lease.isLost && reconciler.serving) orphaned.set(id, reconciler.serving)
    // A lost lease may be free again, and a change during the release is due.
    if (missed.delete(id) || lease.isLost) wake(work)
  })
}

function wake(work: Work): void {
  if (work.isAwake || work.closing.aborted) return
  work.isAwake = true
  looked(work).catch((error) => report(work, error))
}

/** One more scan, after those in progress. Only its caller gets its error. */
function looked(work: Work): Promise<void> {
  const done = work.looking.then(() => look(work))
  work.looking = done.catch(() => {})
  return done
}

const sweep = (work: Work): Promise<void> => work.uploads.sweep().catch((error) => report(work, error))

function poll(work: Work): void {
  work.polling = startTimer(jitter(work.times.leaseMs / 3), () => {
    wake(work)
    void sweep(work)
    poll(work)
  })
}

async function close(work: Work, closed: AbortController): Promise<void> {
  const { polling, looking, held, deployer } = work
  const told = (error: unknown) => report(work, error)
  clearTimeout(polling)
  closed.abort()
  await looking
  await Promise.all([...held.values()].map(({ reconciler }) => reconciler.done))
  await deployer.close?.().catch(told)
  await Promise.all([...held.values()].map(({ lease }) => giveBack(lease).catch(told)))
}

async function giveBack(lease: Lease): Promise<void> {
  try {
    if (!lease.signal.aborted) await lease.release()
  } finally {
    lease.abandon()
  }
}
