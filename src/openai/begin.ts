import { bodyAs, permit } from '../face/access.ts'
import { type NamedAssistant, namedAssistant, reachesAssistant } from '../face/assistants.ts'
import { type ClientTool, withClientTools } from '../face/client-tools.ts'
import { commandKey } from '../face/idempotency-key.ts'
import { ANSWER_EVENTS } from '../face/reading/answer-reader.ts'
import type { FaceCall } from '../face/routes.ts'
import { runSettings } from '../face/run-config.ts'
import { titleOf } from '../face/title.ts'
import { HttpError } from '../http/index.ts'
import { uuid7, uuidOf } from '../ids.ts'
import { namesOwnerOf, type Principal, unbounded } from '../principal.ts'
import {
  type CommandKey,
  internalsOf,
  lookAtThread,
  type ThreadLook,
  type ThreadRecord,
  unanswered,
} from '../runs/index.ts'
import type { Json, Op } from '../storage/store/store.ts'
import type { OpenAiContext } from './context.ts'
import { badRequest, noSuchModel } from './errors.ts'
import type { Input } from './input.ts'
import { answersTo } from './questions.ts'

/** The assistant that a model names, which takes messages. */
export type Model = NamedAssistant & { readonly graphId: string }

/** Throws 404 for a model that is none, or that the caller does not reach. */
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

/** A request as its caller may make it. */
export interface Admitted {
  readonly call: FaceCall
  readonly principal: Principal | null
  /** The metadata that a new thread gets from `authorize`. */
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  readonly command: CommandKey | undefined
  /** The digest of the request. */
  readonly request: string
}

/** Asks whether the caller may start a run of this model, on this thread where the request names one. Throws what refuses it. */
export async function admit(
  context: OpenAiContext,
  asked: FaceCall,
  name: string,
  model: Model,
  threadId: string | undefined,
): Promise<Admitted> {
  const resource = { threadId, assistantId: model.graphId }
  const permitted = await permit(context.authorize, asked, 'runs:create', resource, asked.json)
  const { principal } = permitted
  const call: FaceCall = { ...asked, principal, json: async () => bodyAs(await asked.json(), permitted.body) }
  if (principal !== asked.principal) await modelOf(context, principal, name)
  const body = await asked.json()
  const [command, request] = await Promise.all([commandKey(call, call.route, body), digestOf(call, body)])
  const metadata = permitted.body?.metadata as Admitted['metadata']
  return { call, principal, metadata, command, request }
}

/** Where a run begins. */
export interface Place {
  readonly threadId: string
  /** What was seen of the thread. Absent where its id was made just now. */
  readonly look?: ThreadLook | undefined
  /** As in `engine.start`. */
  readonly checkpointId?: string | null | undefined
}

export interface Order {
  readonly context: OpenAiContext
  /** The call as its caller may make it. */
  readonly call: FaceCall
  readonly model: Model
  readonly place: Place
  readonly input: Pick<Input, 'messages' | 'answers'>
  readonly clientTools: readonly ClientTool[]
  /** What is kept with the run. */
  readonly details: object
  /** False where the thread is only for this run. */
  readonly isKept: boolean
  readonly command: CommandKey | undefined
  readonly extraOps?: ((runId: string) => readonly Op[]) | undefined
  /** Of a new thread. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** A run that was started, or that the same request had started before. */
export interface Begun {
  readonly threadId: string
  readonly principal: Principal | null
  readonly runId: string
  /** The sequence number before its first event. */
  readonly after: number | undefined
}

/** How long a thread is left that is only for one run: to whoever answers its questions, or sends its request again. */
const LEFT = { minutes: 24 * 60 }

/** Starts the run of a request. Throws what refuses it; nothing is changed then. */
export async function beginRun(order: Order): Promise<Begun> {
  const { context, call, model, place, input, isKept, command, metadata } = order
  const { engine, options } = context
  const { threadId, look, checkpointId } = place
  const body = (await call.json()) as Readonly<Record<string, unknown>>
  const configurable = options.configurable?.(body) ?? {}
  const { config, context: settings } = runSettings(internalsOf(engine).limits, model.assistant, {
    config: { configurable },
  })
  // Nobody else knows of a thread that is only for this run.
  const principal = isKept ? call.principal : unbounded(call.principal)
  const run = {
    threadId,
    principal,
    runId: uuid7(),
    config: withClientTools(config, order.clientTools),
    context: settings,
    request: call.request,
    traceparent: call.request.headers.get('traceparent'),
    details: order.details as Json,
    extraOps: order.extraOps,
    command,
    looked: look,
  }
  const { messages, answers } = input
  if (answers.length > 0) {
    const open = look?.thread ? unanswered(look.thread) : []
    const update = messages.length > 0 ? { messages } : undefined
    const started = await engine.respond({ ...run, answers: answersTo(answers, open), update })
    return { threadId, principal, runId: started.runId, after: started.appliedThroughSeq }
  }
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
    ...(!isKept && { ttl: LEFT }),
  })
  return { threadId, principal, runId: started.runId, after: started.appliedThroughSeq }
}

/** The events of a run, until its end. */
export const eventsOfRun = (
  { engine }: OpenAiContext,
  { threadId, principal, runId, after }: Begun,
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

/** A digest of a request, by which one that is sent again is known. */
const digestOf = async ({ route }: FaceCall, body: unknown): Promise<string> => uuidOf([route, body])

/** A request of a client that got no answer to the same one before. OpenAI's clients count. */
const isSentAgain = ({ request }: FaceCall): boolean =>
  Number(request.headers.get('x-stainless-retry-count') ?? 0) > 0

const countsRetries = ({ request }: FaceCall): boolean => request.headers.has('x-stainless-retry-count')

/** How long after its end an answer is given to a request that is sent again. */
const AGAIN_MS = 60_000

/** The run that the same request has started, where it is sent again and the run goes on or has just ended. */
export async function startedBefore(
  { engine }: OpenAiContext,
  call: FaceCall,
  thread: ThreadRecord | undefined,
  request: string,
): Promise<Begun | undefined> {
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
 * A place for a run without a conversation. Its id is made of the idempotency key, so that the receipt of the key is found, or of the
 * request of a client that counts its retries; else it is new.
 */
export async function placeOfOwn(
  { engine }: OpenAiContext,
  call: FaceCall,
  { command, request }: { readonly command: CommandKey | undefined; readonly request: string },
): Promise<Place> {
  const owner = namesOwnerOf(call.principal)
  if (!command && !countsRetries(call)) return { threadId: uuid7() }
  const threadId = await uuidOf(['openai', owner, command?.key ?? request])
  const look = await lookAtThread(engine, { threadId, principal: call.principal, command, saved: false })
  if (command || isSentAgain(call) || !look.isTaken) return { threadId, look }
  return { threadId: uuid7() }
}

/** Where to go on after a run: at the newest state if nothing came after it, else at the state that it has left. */
export async function placeAfter(
  { engine }: OpenAiContext,
  look: ThreadLook & { readonly thread: ThreadRecord },
  runId: string,
): Promise<Place> {
  const { thread } = look
  const { threadId, queue, activeRunId, lastRunId } = thread
  const newest = queue.at(-1)?.runId ?? activeRunId ?? lastRunId
  if (newest === runId) return { threadId, look }
  for await (const { checkpoint } of engine.readHistory(thread, {}, { limit: 1, filter: { run_id: runId } }))
    return { threadId, look, checkpointId: checkpoint.checkpointId }
  throw new HttpError(
    400,
    'no_state',
    'The earlier answer has left no state from which another one could go on.',
  )
}

/** The same for an assistant that has other threads: what was said goes along as input. */
export async function placeFor(
  context: OpenAiContext,
  model: Model,
  place: Place,
  input: Pick<Input, 'messages' | 'answers'>,
): Promise<{ readonly place: Place; readonly input: Pick<Input, 'messages' | 'answers'> }> {
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

/** When a run was accepted, in milliseconds since 1970: its id says it, so that every reader knows the same. */
export const createdAtOf = (runId: string): number =>
  Number.parseInt(runId.replaceAll('-', '').slice(0, 12), 16)
