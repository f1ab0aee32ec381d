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
  times: given,
  builds = 2,
  starts = 2,
  instance = crypto.randomUUID(),
  ...options
}: WorkerOptions) {
  const { store, deployer, uploads, onError } = options
  const times = { ...TIMES, ...given }
  const closed = new AbortController()
  const context: WorkerContext = {
    ...options,
    times,
    instance,
    isHosted: deployer.recover !== undefined,
    builds: createKeyedSemaphore(fairShare(builds)),
    starts: createKeyedSemaphore(fairShare(starts)),
    closing: closed.signal,
  }
  const held = new Map<string, { readonly lease: Lease; readonly reconciler: Reconciler }>()
  /** Deployments that were due while another process held them. */
  const missed = new Set<string>()
  /** Servers that run here although their deployment's lease was lost. */
  const orphaned = new Map<string, Running>()
  let looking: Promise<void> = Promise.resolve()
  let isAwake = false
  /** During the first scan, leases under this name belong to the previous process. */
  let takesBack = true
  let polling: ReturnType<typeof setTimeout> | undefined
  let closing: Promise<void> | undefined
  const report = (error: unknown): void => void reportError(error, onError)

  /** Claims all deployments that have work and that no process holds. */
  async function look(): Promise<void> {
    isAwake = false
    const orphans = new Map(orphaned)
    const failures = new Map<string, unknown>()
    for await (const docs of pagesOf(store, DEPLOYMENTS, { orderBy: WORK }))
      for (const { id } of docs) {
        if (closed.signal.aborted) return
        if (held.has(id)) missed.add(id)
        // A deployment that cannot be claimed must not delay the others.
        else await begin(id).catch((error: unknown) => failures.set(id, error))
      }
    takesBack = false
    // Another process has taken or deleted the deployment.
    for (const [id, running] of orphans)
      if (!failures.has(id) && orphaned.delete(id)) await stopOrphan(id, running)
    const [failure] = failures.values()
    if (failures.size > 0) throw failure
  }

  async function stopOrphan(deploymentId: string, running: Running): Promise<void> {
    const given = { deploymentId, name: '', owner: null, signal: closed.signal, log: () => {} }
    await deployer.stop(running, given).catch(report)
  }

  async function begin(id: string): Promise<void> {
    const lease = await claimDeployment(context, id, takesBack)
    if (!lease) return
    orphaned.delete(id)
    missed.delete(id)
    const reconciler = startReconciler(lease)
    held.set(id, { lease, reconciler })
    void reconciler.done.then(() => {
      if (closed.signal.aborted) return
      held.delete(id)
      if (lease.isLost && reconciler.serving) orphaned.set(id, reconciler.serving)
      // A lost lease may be free again, and a change during the release is due.
      if (missed.delete(id) || lease.isLost) wake()
    })
  }

  function wake(): void {
    if (isAwake || closed.signal.aborted) return
    isAwake = true
    looked().catch(report)
  }

  /** One more scan, after those in progress. Only its caller gets its error. */
  function looked(): Promise<void> {
    const done = looking.then(look)
    looking = done.catch(() => {})
    return done
  }

  const sweep = (): Promise<void> => uploads.sweep().catch(report)

  function poll(): void {
    polling = startTimer(jitter(times.leaseMs / 3), () => {
      wake()
      void sweep()
      poll()
    })
  }

  async function close(): Promise<void> {
    clearTimeout(polling)
    closed.abort()
    await looking
    await Promise.all([...held.values()].map(({ reconciler }) => reconciler.done))
    await deployer.close?.().catch(report)
    await Promise.all([...held.values()].map(({ lease }) => giveBack(lease).catch(report)))
  }

  async function giveBack(lease: Lease): Promise<void> {
    try {
      if (!lease.signal.aborted) await lease.release()
    } finally {
      lease.abandon()
    }
  }

  return {
    /** Looks for work soon. */
    wake,
    /** Starts to look for work regularly. May be called more than once. */
    start(): void {
      if (polling !== undefined || closed.signal.aborted) return
      poll()
      wake()
    },
    /** Does everything that is due now, and resolves when each deployment is idle. */
    async reconcile(): Promise<{ readonly deployments: number }> {
      const before = new Set(held.keys())
      const looking = looked()
      await looking.catch(() => {})
      const mine = [...held].filter(([id]) => !before.has(id))
      await Promise.all([...held.values()].map(({ reconciler }) => reconciler.rested()))
      await looking
      await sweep()
      return { deployments: mine.length }
    },
    /**
     * Stops phases, which other processes start again, ends what runs in this process, and releases the
     * leases.
     */
    close: (): Promise<void> => (closing ??= close()),
  }
}
