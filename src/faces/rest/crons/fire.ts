import { AgentwireError } from '../../../core/errors.ts'
import { HttpError, type OnError, type Principal, reportError } from '../../../core/http/index.ts'
import { uuidOf } from '../../../core/ids.ts'
import { actingFor, withAccess } from '../../../core/principal.ts'
import { noSuchThread } from '../../../engine/errors.ts'
import { type CommandKey, internalsOf, RunError, type ServedEngine } from '../../../engine/index.ts'
import { retryConflicts } from '../../../engine/records/thread.ts'
import { ConflictError, UnavailableError } from '../../../storage/errors.ts'
import { putJobOp } from '../../../storage/jobs/job.ts'
import type { JobHandler } from '../../../storage/jobs/kind.ts'
import type { Json, Op, Store } from '../../../storage/store/store.ts'
import { unasked } from '../../kit/asking.ts'
import { namedAssistant } from '../../kit/assistants.ts'
import { readBy } from '../../kit/body.ts'
import type { StartContext } from '../context.ts'
import { unknownAssistant } from '../runs/config.ts'
import { startPlatformRun } from '../runs/start-run.ts'
import { type RunCreate, runCreateSchema } from '../runs/wire.ts'
import { FINISH_JOB } from './jobs.ts'
import {
  type CronRecord,
  clockOf,
  type LastRun,
  loadCron,
  removeCron,
  replaceCron,
  type StoredCron,
} from './records.ts'
import { dueDates } from './schedule.ts'

/** A run that a cron starts when it is due. Repeating the same command starts no second run. */
interface DueRun {
  readonly threadId: string
  readonly command: CommandKey
  /** The cron's metadata, with its id and due time. */
  readonly metadata: Readonly<Record<string, unknown>>
}

export interface CronContext {
  readonly engine: ServedEngine
  readonly onError: OnError | undefined
  readonly startRun: (cron: CronRecord, run: DueRun) => Promise<{ readonly runId: string }>
}

/** The maximum number of missed dates that are counted. */
const MAX_MISSED = 1_000

/**
 * Starts the run of a due cron, and schedules its next date. If a process is lost, another repeats its work:
 * the run has the same thread and idempotency key, so it starts once. If no process ran at a due date, its
 * run starts late. Later dates that have also passed get no run and are counted as missed.
 */
export const fireCron =
  (context: CronContext): JobHandler =>
  async ({ partition, id }) => {
    const { store, observe } = internalsOf(context.engine)
    const cron = await loadCron(store, partition, id)
    if (!cron || cron.record.nextRun === null) return
    const { nextRun: due, assistantId, owner } = cron.record
    const at = await clockOf(store)
    // This clock reading may be slightly behind the one that made the job due.
    if (due > at) {
      await replaceCron(store, cron, cron.record).catch(unlessConflict)
      return
    }
    const { next, missed } = await datesAfter(cron.record, due, at)
    const { error, threadId, runId } = await start(context, cron.record, due)
    if (error !== undefined && isThreadGone(cron.record, error)) await removeCron(store, cron)
    else {
      const told = error === undefined ? null : sentenceOf(context, error, threadId)
      const lastRun: LastRun = { due, at, missed, runId, threadId, error: told }
      if (!(await retryConflicts(() => settle(store, cron, lastRun, next)))) return
    }
    observe({
      type: 'cron.due',
      cronId: id,
      assistantId,
      owner,
      threadId,
      runId,
      dueAt: due,
      missed,
      error,
      at,
    })
  }

interface Outcome extends Pick<LastRun, 'threadId' | 'runId'> {
  readonly error?: unknown
}

/**
 * Starts the run. A rejection is the outcome of this date. If the store is unavailable or the process is
 * closing, it throws, so that the date fires again.
 */
async function start({ startRun }: CronContext, cron: CronRecord, due: number): Promise<Outcome> {
  const { cronId } = cron
  const key = `cron ${cronId} ${due}`
  const threadId = cron.threadId ?? (await uuidOf(key))
  const metadata = { ...cron.metadata, cron_id: cronId, cron_due_at: new Date(due).toISOString() }
  try {
    const { runId } = await startRun(cron, { threadId, command: { key, fingerprint: key }, metadata })
    return { threadId, runId }
  } catch (error) {
    if (error instanceof UnavailableError || (error instanceof RunError && error.code === 'closing'))
      throw error
    return { threadId: cron.threadId, runId: null, error }
  }
}

/** The first date after now, and the number of dates between `due` and it. */
async function datesAfter(cron: CronRecord, due: number, now: number) {
  const [first] = await dueDates(cron, due)
  if (first === undefined || first > now) return { next: first ?? null, missed: 0 }
  const dates = await dueDates(cron, due, MAX_MISSED)
  const missed = dates.filter((date) => date <= now).length
  const [next] = await dueDates(cron, now)
  return { next: next ?? null, missed }
}

/** Stores the outcome of a date, and the next date. False if another process has done so. */
async function settle(
  store: Store,
  { partition, record: { cronId, threadId, onRunCompleted, owner } }: StoredCron,
  lastRun: LastRun,
  next: number | null,
): Promise<boolean> {
  const goes = threadId === null && onRunCompleted === 'delete' && lastRun.runId !== null
  const ops = goes ? [finishOp({ threadId: lastRun.threadId!, runId: lastRun.runId, owner })] : []
  const cron = await loadCron(store, partition, cronId)
  if (!cron) {
    // The cron was deleted after its run had started.
    if (goes) await store.commit(partition, { ops })
    return true
  }
  const { record } = cron
  const isDue = record.nextRun === lastRun.due
  if (!isDue && record.lastRun?.due === lastRun.due) return false
  // If the cron was changed since, it already has another date.
  await replaceCron(store, cron, { ...record, nextRun: isDue ? next : record.nextRun, lastRun }, ops)
  return true
}

/** A cron that was changed meanwhile has a new job. */
const unlessConflict = (error: unknown): void => {
  if (!(error instanceof ConflictError)) throw error
}

/** If a cron's thread was deleted or has another owner, the cron is deleted too. */
const isThreadGone = ({ threadId }: CronRecord, error: unknown): boolean =>
  threadId !== null && error instanceof RunError && error.code === 'no_such_thread'

/**
 * Why no run was started, for the owner. The message of an error that is not ours could contain anything, so
 * it is not shown.
 */
function sentenceOf({ onError }: CronContext, error: unknown, threadId: string | null): string {
  if (error instanceof AgentwireError) return error.message
  return `The run could not be started. Error ${reportError(error, onError, { threadId: threadId ?? undefined })}.`
}

/** A run whose thread is deleted after the run has ended. */
interface Finishing {
  readonly threadId: string
  readonly runId: string
  readonly owner: string | null
}

/**
 * Schedules the deletion of a run's thread. It belongs in the commit that records the run. Otherwise a
 * process that does not know the run yet could start it again after the deletion.
 */
const finishOp = (finishing: Finishing): Op =>
  putJobOp({ id: `run ${finishing.runId}`, kind: FINISH_JOB, data: finishing as unknown as Json })

/** Waits for the end of a run, on any instance, and deletes its thread. */
export const finishRun =
  (engine: ServedEngine): JobHandler =>
  async ({ data }, { signal }) => {
    const { threadId, runId, owner } = data as unknown as Finishing
    const thread = { threadId, principal: actingFor(owner) }
    try {
      await engine.wait({ ...thread, runId, signal })
    } catch (error) {
      if (!(error instanceof RunError) || !error.code.startsWith('no_such')) throw error
    }
    await engine.deleteThread(thread)
  }

/**
 * The request of each run of a cron. Throws 400 if it is invalid, for example if its webhook cannot be
 * called.
 */
export async function runOf(
  { webhooks }: Pick<StartContext, 'webhooks'>,
  { assistantId, payload }: Pick<CronRecord, 'assistantId' | 'payload'>,
): Promise<RunCreate> {
  const body = { ...payload, assistant_id: assistantId }
  const run = readBy(runCreateSchema, body, (message) => new HttpError(400, 'invalid_argument', message))
  if (run.webhook !== undefined) await webhooks.check(run.webhook, undefined)
  return run
}

/** The assistant that a request names, by its UUID or graph name. Throws 404. */
export async function assistantOf(
  { engine }: Pick<CronContext, 'engine'>,
  principal: Principal | null,
  named: string,
): Promise<{ readonly assistantId: string; readonly graphId: string }> {
  const { graphId, assistant } = await namedAssistant(engine, principal, named)
  if (graphId !== undefined && engine.agents.has(graphId))
    return { assistantId: assistant?.assistantId ?? graphId, graphId }
  throw unknownAssistant(engine, named)
}

/** Starts a run of a cron, for the principal who created the cron. */
export const startCronRun =
  (served: Omit<StartContext, 'engine'> & Pick<CronContext, 'engine'>): CronContext['startRun'] =>
  async (cron, { threadId, command, metadata }) => {
    // Its permission was asked for when the cron was made.
    const context = { ...served, engine: unasked(served.engine) }
    const { owner, metadataFilter } = cron
    const principal = cron.principal && withAccess(cron.principal, { owner, metadataFilter })
    const ofThread = cron.threadId !== null
    if (ofThread && !(await context.engine.findThread({ threadId, principal }))) throw noSuchThread(threadId)
    return startPlatformRun(
      context,
      { principal, threadId, key: command },
      { ...(await runOf(context, cron)), metadata, if_not_exists: ofThread ? 'reject' : 'create' },
    )
  }
