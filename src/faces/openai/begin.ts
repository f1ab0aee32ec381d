import type { ClientTool } from '../../agents/model-request.ts'
import { uuid7, uuidOf } from '../../core/ids.ts'
import { namesOwnerOf, type Principal, withoutMetadataFilter } from '../../core/principal.ts'
import {
  type AgentEngine,
  type CommandKey,
  internalsOf,
  lookAtThread,
  receiptIn,
  type ThreadLook,
  type ThreadRecord,
} from '../../engine/index.ts'
import { type Fields, itemsOf } from '../../messages/record.ts'
import type { Json, Op } from '../../storage/store/store.ts'
import { permit } from '../kit/access.ts'
import { type NamedAssistant, namedAssistant, reachesAssistant } from '../kit/assistants.ts'
import { toolsOfRun, withClientTools } from '../kit/client-tools.ts'
import { commandKey } from '../kit/idempotency-key.ts'
import { ANSWER_EVENTS } from '../kit/reading/answer-reader.ts'
import type { FaceCall } from '../kit/routes.ts'
import { runSettings } from '../kit/run-config.ts'
import { titleOf } from '../kit/title.ts'
import type { Decision, Situation } from './decide.ts'
import { badRequest, noSuchModel } from './errors.ts'
import type { OpenAiContext } from './options.ts'
import { requestOf } from './request.ts'

/** The assistant that a model names. It takes messages. */
export type Model = NamedAssistant & { readonly graphId: string }

/** Throws 404 if the model does not exist or the caller has no access. */
export async function modelOf(
  { engine }: OpenAiContext,
  principal: Principal | null,
  name: string,
): Promise<Model> {
  const { graphId, assistant } = await namedAssistant(engine, principal, name)
  const agent = graphId === undefined ? undefined : engine.agents.get(graphId)
  if (graphId === undefined || !agent || !reachesAssistant(principal, { assistant })) throw noSuchModel(name)
  if (agent.takesMessages === false)
    throw badRequest('model: this assistant keeps no messages, so that it cannot be called in this way.')
  return { graphId, assistant }
}

/** A permitted request. */
export interface Admitted {
  readonly context: OpenAiContext
  readonly model: Model
  readonly call: FaceCall
  readonly principal: Principal | null
  /** The metadata that `authorize` sets on a new thread. */
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  readonly command: CommandKey | undefined
  /** A digest of the request. */
  readonly request: string
}

/**
 * Checks that the caller may start a run of this model, on this thread if the request names one. Throws the
 * rejection.
 */
export async function admit(
  context: OpenAiContext,
  asked: FaceCall,
  name: string,
  model: Model,
  threadId: string | undefined,
): Promise<Admitted> {
  const resource = { threadId, assistantId: model.graphId }
  const permitted = await permit(context.authorize, asked, 'runs:create', resource, asked.json)
  const call: FaceCall = permitted
  const { principal } = permitted
  if (principal !== asked.principal) await modelOf(context, principal, name)
  const body = await asked.json()
  const [command, request] = await Promise.all([commandKey(call, call.route, body), digestOf(call, body)])
  const metadata = permitted.fields?.metadata as Admitted['metadata']
  return { context, model, call, principal, metadata, command, request }
}

/** A run that was started, or that an earlier identical request has started. */
export interface StartedRun {
  readonly threadId: string
  readonly principal: Principal | null
  readonly runId: string
  /** The sequence number before its first event. */
  readonly after: number | undefined
}

/** How long a single-run thread is kept, for answers to its questions or for retries of its request. */
const TEMPORARY_THREAD_TTL = { minutes: 24 * 60 }

export interface StartRequest {
  readonly threadId: string
  /** The thread as it was decided on. Absent if its id is new. */
  readonly look: ThreadLook | undefined
  readonly decision: Decision
  readonly clientTools: readonly ClientTool[]
  /** The details stored with the run. */
  readonly details: object
  /** False if the thread exists only for this run. */
  readonly isKept: boolean
  /** The id of the run, which is new. */
  readonly runId: string
  readonly extraOps: readonly Op[]
}

/** Starts what was decided. If it throws, nothing has changed. */
export async function startRun(admitted: Admitted, order: StartRequest): Promise<StartedRun> {
  const { context, model, call, command, metadata } = admitted
  const { threadId, look, decision, isKept } = order
  const { engine, options } = context
  const body = (await call.json()) as Fields
  const configurable = options.configurable?.(body) ?? {}
  const settings = runSettings(internalsOf(engine).limits, model.assistant, { config: { configurable } })
  // Only this request knows a single-run thread.
  const principal = isKept ? call.principal : withoutMetadataFilter(call.principal)
  const run = {
    threadId,
    principal,
    runId: order.runId,
    ...settings,
    config: withClientTools(settings.config, order.clientTools, requestOf(body)),
    request: call.request,
    traceparent: call.request.headers.get('traceparent'),
    details: order.details as Json,
    extraOps: order.extraOps,
    command,
    looked: look,
  }
  const { messages } = decision
  const input = messages.length > 0 ? { messages } : null
  const { runId, appliedThroughSeq: after } =
    decision.kind === 'answer'
      ? await engine.respond({ ...run, answers: decision.answers, update: input ?? undefined })
      : await engine.start({
          ...run,
          assistantId: model.graphId,
          isNewThread: look === undefined && command === undefined,
          checkpointId: decision.checkpointId,
          input,
          title: titleOf(input),
          metadata,
          answer: { details: null },
          ...(!isKept && { ttl: TEMPORARY_THREAD_TTL }),
        })
  return { threadId, principal, runId, after }
}

/** The messages of a state, and the tools of the client, for results of calls after this run. */
export async function readCalls(
  { context: { engine }, principal }: Admitted,
  thread: ThreadRecord,
  fork: Situation['fork'],
  after?: string,
): Promise<Pick<Situation, 'messages' | 'ofClient'>> {
  const [messages, ofClient] = await Promise.all([
    messagesAt(engine, thread, fork),
    toolsOfRun(engine, principal, thread, after),
  ])
  return { messages, ofClient }
}

export async function messagesAt(
  engine: AgentEngine,
  thread: ThreadRecord,
  checkpointId: string | null | undefined,
): Promise<readonly unknown[]> {
  const state = await engine.readState(thread, checkpointId ? { checkpointId } : {})
  return itemsOf(state?.values.messages)
}

/** The events of a run, until it ends. */
export const eventsOfRun = (
  { engine }: OpenAiContext,
  { threadId, principal, runId, after }: StartedRun,
  signal?: AbortSignal,
) =>
  engine.events({
    threadId,
    principal,
    runId,
    after,
    signal,
    filter: ANSWER_EVENTS,
    batches: true,
  })

/** A digest of a request that identifies its retries. */
const digestOf = async ({ route }: FaceCall, body: unknown): Promise<string> => uuidOf([route, body])

/** Whether a request is a retry. OpenAI's clients count their attempts. */
const isSentAgain = ({ request }: FaceCall): boolean =>
  Number(request.headers.get('x-stainless-retry-count') ?? 0) > 0

const countsRetries = ({ request }: FaceCall): boolean => request.headers.has('x-stainless-retry-count')

/** How long after its end a run can still answer a retry, in milliseconds. */
const AGAIN_MS = 60_000

/**
 * The run that an identical request has started: with the same idempotency key, or if this request is a retry
 * and the run is active or has just ended.
 */
export async function startedBefore(
  { context: { engine }, call, request }: Admitted,
  look: ThreadLook | undefined,
): Promise<StartedRun | undefined> {
  if (!look?.thread) return undefined
  const { threadId } = look.thread
  const { principal } = call
  const receipt = receiptIn(look)
  if (receipt && 'runId' in receipt)
    return { threadId, principal, runId: receipt.runId, after: receipt.appliedThroughSeq }
  const runId = newestRun(look.thread)
  if (!isSentAgain(call) || runId === null) return undefined
  const run = await engine.getRun({ threadId, principal, runId })
  if (!run || Object(run.details).request !== request) return undefined
  const isOver = run.end && (run.end.reason === 'cancelled' || run.end.at < Date.now() - AGAIN_MS)
  return isOver ? undefined : { threadId, principal, runId, after: placeOf(run.firstSeq) }
}

const newestRun = ({ queue, activeRunId, lastRunId }: ThreadRecord): string | null =>
  queue.at(-1)?.runId ?? activeRunId ?? lastRunId

/** The sequence number before a run. */
export const placeOf = (firstSeq: number | null): number | undefined =>
  firstSeq === null ? undefined : firstSeq - 1

/**
 * The thread of a run without a conversation. Its id is derived from the idempotency key, or from the request if
 * the client counts its retries, so that the receipt can be found. Otherwise the id is new.
 */
export async function ownThread({
  context: { engine },
  call,
  command,
  request,
}: Admitted): Promise<{ readonly threadId: string; readonly look?: ThreadLook }> {
  const owner = namesOwnerOf(call.principal)
  if (!command && !countsRetries(call)) return { threadId: uuid7() }
  const threadId = await uuidOf(['openai', owner, command?.key ?? request])
  const look = await lookAtThread(engine, { threadId, principal: call.principal, command, saved: false })
  if (command || isSentAgain(call) || !look.isTaken) return { threadId, look }
  return { threadId: uuid7() }
}

/** Where to continue after a run, as in `Situation`. */
export async function forkAfter(
  engine: AgentEngine,
  thread: ThreadRecord,
  runId: string,
): Promise<Situation['fork']> {
  if (newestRun(thread) === runId) return undefined
  for await (const { checkpoint } of engine.readHistory(thread, {}, { limit: 1, filter: { run_id: runId } }))
    return checkpoint.checkpointId
  return null
}

/**
 * When a run was accepted, in milliseconds since 1970. The run id contains it, so every reader gets the same
 * time.
 */
export const createdAtOf = (runId: string): number =>
  Number.parseInt(runId.replaceAll('-', '').slice(0, 12), 16)
