import { HttpError } from '../../../core/http/index.ts'
import { uuid7 } from '../../../core/ids.ts'
import { ownerOf, type Principal, withoutMetadataFilter } from '../../../core/principal.ts'
import {
  type CommandKey,
  internalsOf,
  jobsOf,
  lookAtThread,
  noSuchCheckpoint,
  RunError,
  type RunReceipt,
  type RunRequest,
  restStatusOf,
  retryConflicts,
  type ThreadRecord,
  unanswered,
} from '../../../engine/index.ts'
import type { Json } from '../../../storage/store/store.ts'
import { threadIdOf } from '../../kit/ids.ts'
import { threadNotFound } from '../../kit/require-thread.ts'
import { forkPoint } from '../../kit/run-config.ts'
import { threadMetadata } from '../../kit/thread-metadata.ts'
import { titleOf } from '../../kit/title.ts'
import type { StartContext } from '../context.ts'
import { assistantOf, type RunAssistant, type RunSettings, settingsOf } from './config.ts'
import { webhookJob } from './webhook-job.ts'
import type { RunCreate, RunDetails } from './wire.ts'

/** Who starts a run, and where. */
export interface RunOrder {
  readonly principal: Principal | null
  /** Absent for a run with its own thread, which is deleted afterwards unless `on_completion` is `keep`. */
  readonly threadId?: string | undefined
  /** Absent for runs that the server starts itself. */
  readonly request?: Request | undefined
  /** The idempotency key of runs that the server starts itself: a repeated order starts no second run. */
  readonly key?: CommandKey | undefined
  /** The server's URL for callers, for webhooks that are paths on it. */
  readonly base?: string | undefined
}

export interface StartedRun extends RunReceipt {
  readonly threadId: string
  readonly principal: Principal | null
  /** What deletes the thread after the run: the request that started it, its webhook job, or nothing. */
  readonly deletedBy: 'starter' | 'webhook' | null
}

/** Starts the run of a REST body. A rejected request changes nothing. Throws `HttpError` and `RunError`. */
export const startPlatformRun = (
  context: StartContext,
  order: RunOrder,
  body: RunCreate,
): Promise<StartedRun> => retryConflicts(async () => (await planRun(context, order, body))())

/** Validates a body, and returns a function that starts its run. */
export async function planRun(
  context: StartContext,
  order: RunOrder,
  body: RunCreate,
): Promise<() => Promise<StartedRun>> {
  const { engine } = context
  const { request } = order
  const isOfOwnThread = order.threadId === undefined
  // The run and its thread have the same id, so the run id is enough to find both.
  const runId = uuid7()
  const threadId = order.threadId === undefined ? runId : threadIdOf(order.threadId)
  // Only this request knows the thread, so its metadata need not match a filter. Assistants must.
  const principal = isOfOwnThread ? withoutMetadataFilter(order.principal) : order.principal
  const look = isOfOwnThread
    ? undefined
    : await lookAtThread(engine, { threadId, principal, command: order.key })
  const thread = look?.thread
  const mayCreate = isOfOwnThread || body.if_not_exists === 'create'
  if (!thread && !mayCreate) throw threadNotFound(threadId)
  const assistant = await assistantOf(engine, order.principal, body.assistant_id, thread?.assistantId ?? null)
  const webhook =
    body.webhook === undefined ? undefined : await context.webhooks.check(body.webhook, order.base)
  const settings = settingsOf(assistant, thread, body, { principal, request }, internalsOf(engine).limits)
  const { command } = body
  const answers = command && answersOf(thread, command.resume)
  const isDeleted = isOfOwnThread && body.on_completion !== 'keep'
  const deletedBy = isDeleted ? (webhook === undefined ? 'starter' : 'webhook') : null
  const asked: RunRequest = {
    threadId,
    // A command has created its thread before.
    isNewThread: isOfOwnThread && body.command === undefined,
    principal,
    request,
    command: order.key,
    looked: look,
    runId,
    traceparent: request?.headers.get('traceparent'),
    assistantId: assistant.graphId,
    checkpointId: checkpointOf(body),
    mustExist: !mayCreate,
    multitaskStrategy: body.multitask_strategy,
    config: settings.stored,
    ...(Object.keys(settings.context).length > 0 && { context: settings.context }),
    ...(assistant.isOwn && { settingsFrom: assistant.assistantId }),
    classic: { modes: body.stream_mode ?? ['values'], subgraphs: body.stream_subgraphs ?? false },
    startAfterMs: body.after_seconds && body.after_seconds * 1_000,
    details: detailsOf(assistant, settings, body, isDeleted),
    temporary: deletedBy === 'starter',
    title: titleOf(body.input),
    metadata: threadMetadata(engine, body.metadata),
    threadMetadata: { graph_id: assistant.graphId, assistant_id: assistant.assistantId },
    threadConfig: settings.config,
    ...(webhook !== undefined && {
      extraOps: [webhookJob({ runId, url: webhook, owner: ownerOf(principal), deletesThread: isDeleted })],
    }),
  }

  const needsThread = command !== undefined && !thread
  return async () => {
    const started = await startAsked(context, asked, body, answers, needsThread)
    if (webhook !== undefined) jobsOf(engine).wake()
    return { ...started, threadId, principal, deletedBy }
  }
}

/** Starts a run, and before it the thread of a command that has none. */
async function startAsked(
  context: StartContext,
  asked: RunRequest,
  { command, input }: RunCreate,
  answers: Readonly<Record<string, unknown>> | undefined,
  needsThread: boolean,
) {
  const { engine } = context
  const isMade = needsThread && (await makeThread(context, asked))
  const run = isMade ? { ...asked, looked: undefined } : asked
  return refusals(
    command && !continuesOnly(command, answers)
      ? engine.respond({ ...run, answers: answers ?? {}, update: command.update, goto: command.goto })
      : engine.start({ ...run, input: command ? null : input }),
  ).catch(async (error: unknown) => {
    // Nothing was started, and the thread was only created for the run.
    if (isMade) await engine.deleteThread({ threadId: asked.threadId, principal: asked.principal })
    throw error
  })
}

/** Whether a command only continues the thread, without answers or updates. */
const continuesOnly = (
  { resume, update, goto }: NonNullable<RunCreate['command']>,
  answers: Readonly<Record<string, unknown>> = {},
): boolean => resume != null && Object.keys(answers).length === 0 && update == null && goto == null

const checkpointOf = (body: RunCreate): string | undefined =>
  body.checkpoint_id || body.checkpoint?.checkpoint_id || forkPoint(body.config) || undefined

/** Creates the thread of a command. False if another request has created it. */
async function makeThread(
  { engine }: Pick<StartContext, 'engine'>,
  { threadId, principal, assistantId, metadata, checkpointId }: RunRequest,
): Promise<boolean> {
  if (checkpointId != null) throw noSuchCheckpoint(checkpointId)
  return (await engine.createThread({ threadId, principal, assistantId, metadata })) !== undefined
}

/** The largest input that is stored for clients to show, in characters of JSON. */
const MAX_SHOWN = 65_536

function detailsOf(
  { assistantId }: RunAssistant,
  { config, context, metadata }: RunSettings,
  body: RunCreate,
  temporary: boolean,
): Json {
  const input = (JSON.stringify(body.input ?? null) ?? '').length > MAX_SHOWN ? null : (body.input ?? null)
  const details: RunDetails = {
    assistant_id: assistantId,
    metadata,
    kwargs: {
      input,
      command: body.command ?? null,
      config,
      context,
      stream_mode: body.stream_mode ?? ['values'],
      interrupt_before: body.interrupt_before ?? null,
      interrupt_after: body.interrupt_after ?? null,
      webhook: body.webhook ?? null,
      temporary,
      subgraphs: body.stream_subgraphs ?? false,
      resumable: body.stream_resumable ?? false,
    },
  }
  // It is plain JSON. The store drops undefined keys.
  return details as unknown as Json
}

/** Clients search for this sentence if a run is active and the new one must not wait. */
const BUSY =
  'Thread is already running a task. Wait for it to finish or choose a different multitask strategy.'

async function refusals<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof RunError && error.code === 'thread_busy')
      throw new HttpError(409, 'thread_busy', `${BUSY} ${error.message}`)
    if (error instanceof RunError && error.code === 'no_such_interrupt')
      throw new HttpError(400, 'invalid_argument', `command.resume: ${error.message}`)
    throw error
  }
}

/** The format of LangGraph's interrupt ids. */
const INTERRUPT_ID = /^[0-9a-f]{32}$/

/**
 * The answers in `command.resume`, by interrupt id: a map of them, or the answer to the only interrupt. Empty
 * at a breakpoint, where it only continues the run. Throws 400.
 */
function answersOf(thread: ThreadRecord | undefined, resume: unknown): Readonly<Record<string, unknown>> {
  if (resume === undefined || resume === null) return {}
  const open = thread ? unanswered(thread).map(({ id }) => id) : []
  if (typeof resume === 'object' && !Array.isArray(resume)) {
    const ids = Object.keys(resume)
    if (ids.length > 0 && ids.every((id) => open.includes(id) || INTERRUPT_ID.test(id)))
      return resume as Readonly<Record<string, unknown>>
  }
  const [only, ...others] = open
  if (only === undefined && thread && restStatusOf(thread) === 'interrupted') return {}
  if (only === undefined) throw refused('no interrupt is waiting for an answer on this thread.')
  if (others.length > 0)
    throw refused('several interrupts are waiting. Send an object with the answers by interrupt id.')
  return { [only]: resume }
}

const refused = (why: string): HttpError => new HttpError(400, 'invalid_argument', `command.resume: ${why}`)
