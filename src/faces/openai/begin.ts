import type { ClientTool } from '../../agents/model-request.ts'
import { HttpError } from '../../core/http/index.ts'
import { uuid7, uuidOf } from '../../core/ids.ts'
import { namesOwnerOf, type Principal, withoutMetadataFilter } from '../../core/principal.ts'
import {
  type CommandKey,
  internalsOf,
  lookAtThread,
  openQuestions,
  type ThreadLook,
  type ThreadRecord,
} from '../../engine/index.ts'
import { decodeMessage } from '../../messages/index.ts'
import { itemsOf } from '../../messages/record.ts'
import { withCallNames } from '../../messages/unique-calls.ts'
import type { Json, Op } from '../../storage/store/store.ts'
import { permit } from '../kit/access.ts'
import { type NamedAssistant, namedAssistant, reachesAssistant } from '../kit/assistants.ts'
import { toolsOfRun, withClientTools } from '../kit/client-tools.ts'
import { commandKey } from '../kit/idempotency-key.ts'
import { ANSWER_EVENTS } from '../kit/reading/answer-reader.ts'
import type { FaceCall } from '../kit/routes.ts'
import { runSettings } from '../kit/run-config.ts'
import { titleOf } from '../kit/title.ts'
import { badRequest, noSuchModel } from './errors.ts'
import type { Input } from './input.ts'
import type { OpenAiContext } from './options.ts'
import { answersTo } from './questions.ts'
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
  return { call, principal, metadata, command, request }
}

/** Where a run starts. */
export interface StartPosition {
  readonly threadId: string
  /** The snapshot of the thread. Absent if its id is new. */
  readonly look?: ThreadLook | undefined
  /** As in `engine.start`. */
  readonly checkpointId?: string | null | undefined
  /** The run that it continues after. Default: the newest of the thread. */
  readonly after?: string | undefined
}

export interface StartRequest {
  readonly context: OpenAiContext
  /** The permitted call. */
  readonly call: FaceCall
  readonly model: Model
  readonly place: StartPosition
  readonly input: Pick<Input, 'messages' | 'answers'>
  readonly clientTools: readonly ClientTool[]
  /** The details stored with the run. */
  readonly details: object
  /** False if the thread exists only for this run. */
  readonly isKept: boolean
  readonly command: CommandKey | undefined
  /** The id of the run, which is new. */
  readonly runId: string
  readonly extraOps?: readonly Op[] | undefined
  /** For a new thread. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
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

/** Starts a request's run. If it throws, nothing has changed. */
export async function beginRun(order: StartRequest): Promise<StartedRun> {
  const { context, call, model, place, input, isKept, command, metadata } = order
  const { engine, options } = context
  const { threadId, look, checkpointId } = place
  const body = (await call.json()) as Readonly<Record<string, unknown>>
  const configurable = options.configurable?.(body) ?? {}
  const settings = runSettings(internalsOf(engine).limits, model.assistant, {
    config: { configurable },
  })
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
  const { messages, answers } = input
  if (answers.length > 0) {
    const open = look?.thread ? await openQuestions(engine, look.thread) : []
    const update = messages.length > 0 ? { messages } : undefined
    const started = await engine.respond({ ...run, answers: answersTo(answers, open), update })
    return { threadId, principal, runId: started.runId, after: started.appliedThroughSeq }
  }
  await refuseResults(order)
  if (messages.length === 0 && !look?.thread) throw badRequest('input: expected at least one message.')
  const value = messages.length > 0 ? { messages } : null
  const started = await engine.start({
    ...run,
    assistantId: model.graphId,
    isNewThread: look === undefined && command === undefined,
    checkpointId,
    input: value,
    title: titleOf(value),
    metadata,
    answer: { details: null },
    ...(!isKept && { ttl: TEMPORARY_THREAD_TTL }),
  })
  return { threadId, principal, runId: started.runId, after: started.appliedThroughSeq }
}

/**
 * Throws for the result of a call that the state has, unless its tool is one that the client was given to
 * run: the agent runs the others itself, after an approval if it asks for one.
 */
async function refuseResults({ context: { engine }, call, place, input }: StartRequest): Promise<void> {
  const { look, checkpointId, after } = place
  const results = input.messages.flatMap(({ tool_call_id: id }) => (typeof id === 'string' ? [id] : []))
  if (!look?.thread || results.length === 0 || checkpointId === null) return
  const state = await engine.readState(look.thread, checkpointId === undefined ? {} : { checkpointId })
  const said = itemsOf(state?.values.messages).flatMap((message) => decodeMessage(message) ?? [])
  const names = new Map(
    withCallNames(said)
      .flatMap(({ content }) => content)
      .flatMap((block) => (block.type === 'toolCall' ? [[block.id, block.name] as const] : [])),
  )
  const known = results.filter((id) => names.has(id))
  if (known.length === 0) return
  const ofClient = await toolsOfRun(engine, call.principal, look.thread, after)
  const own = known.find((id) => !ofClient.has(names.get(id)!))
  if (own !== undefined)
    throw badRequest(`input: call ${JSON.stringify(own)} is of a tool that the assistant runs itself.`)
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
 * The run that an identical request has started, if this request is a retry and the run is active or has just
 * ended.
 */
export async function startedBefore(
  { engine }: OpenAiContext,
  call: FaceCall,
  thread: ThreadRecord | undefined,
  request: string,
): Promise<StartedRun | undefined> {
  if (!thread || !isSentAgain(call)) return undefined
  const { threadId, queue, activeRunId, lastRunId } = thread
  const runId = queue.at(-1)?.runId ?? activeRunId ?? lastRunId
  if (runId === null) return undefined
  const { principal } = call
  const run = await engine.getRun({ threadId, principal, runId })
  if (!run || Object(run.details).request !== request) return undefined
  const isOver = run.end && (run.end.reason === 'cancelled' || run.end.at < Date.now() - AGAIN_MS)
  return isOver ? undefined : { threadId, principal, runId, after: placeOf(run.firstSeq) }
}

/** The sequence number before a run. */
export const placeOf = (firstSeq: number | null): number | undefined =>
  firstSeq === null ? undefined : firstSeq - 1

/**
 * Where to start a run without a conversation. The thread id is derived from the idempotency key, or from the
 * request if the client counts its retries, so that the receipt can be found. Otherwise the id is new.
 */
export async function placeOfOwn(
  { engine }: OpenAiContext,
  call: FaceCall,
  { command, request }: { readonly command: CommandKey | undefined; readonly request: string },
): Promise<StartPosition> {
  const owner = namesOwnerOf(call.principal)
  if (!command && !countsRetries(call)) return { threadId: uuid7() }
  const threadId = await uuidOf(['openai', owner, command?.key ?? request])
  const look = await lookAtThread(engine, { threadId, principal: call.principal, command, saved: false })
  if (command || isSentAgain(call) || !look.isTaken) return { threadId, look }
  return { threadId: uuid7() }
}

/**
 * Where to continue after a run: at the newest state if nothing came after the run, otherwise at the state
 * that it left.
 */
export async function placeAfter(
  { engine }: OpenAiContext,
  look: ThreadLook & { readonly thread: ThreadRecord },
  runId: string,
): Promise<StartPosition> {
  const { thread } = look
  const { threadId, queue, activeRunId, lastRunId } = thread
  const newest = queue.at(-1)?.runId ?? activeRunId ?? lastRunId
  if (newest === runId) return { threadId, look }
  for await (const { checkpoint } of engine.readHistory(thread, {}, { limit: 1, filter: { run_id: runId } }))
    return { threadId, look, checkpointId: checkpoint.checkpointId, after: runId }
  throw new HttpError(400, 'no_state', 'The earlier response left no state to continue from.')
}

/** The same for an assistant with other threads: the messages so far become input. */
export async function placeFor(
  context: OpenAiContext,
  model: Model,
  place: StartPosition,
  input: Pick<Input, 'messages' | 'answers'>,
): Promise<{ readonly place: StartPosition; readonly input: Pick<Input, 'messages' | 'answers'> }> {
  const thread = place.look?.thread
  const bound = thread?.assistantId ?? null
  const { aliases } = internalsOf(context.engine)
  if (!thread || bound === null || (aliases.get(bound) ?? bound) === model.graphId) return { place, input }
  const state = await context.engine.readState(
    thread,
    place.checkpointId ? { checkpointId: place.checkpointId } : {},
  )
  const before = (state?.values.messages ?? []) as Input['messages']
  return { place: { threadId: uuid7() }, input: { ...input, messages: [...before, ...input.messages] } }
}

/**
 * When a run was accepted, in milliseconds since 1970. The run id contains it, so every reader gets the same
 * time.
 */
export const createdAtOf = (runId: string): number =>
  Number.parseInt(runId.replaceAll('-', '').slice(0, 12), 16)
