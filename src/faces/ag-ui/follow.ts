import { type OpenInterrupt, type ThreadSnapshot, unanswered } from '../../engine/index.ts'
import type { Message } from '../../messages/index.ts'
import { isRecord } from '../../messages/record.ts'
import { ANSWER_EVENTS, createAnswerReader } from '../kit/reading/answer-reader.ts'
import type { StartedRun } from './begin.ts'
import type { AgUiCall } from './call.ts'
import { interruptsOf } from './interrupts.ts'
import { messagesIn, toClient, waitingCalls } from './messages.ts'
import { type AgUiEvent, createStateWriter, PROTOCOL_VERSION, type StateWriter, speaksV1 } from './state.ts'
import { close, createWriter, tell, write } from './write.ts'

/** What a client says about itself and its run. */
export interface Client {
  readonly threadId: string
  readonly runId: string
  readonly protocolVersion?: string | undefined
  /** The names of its client-side tools. */
  readonly toolNames: readonly string[]
}

type Events = AsyncGenerator<readonly AgUiEvent[], void, undefined>

/** A client's run: an answer until it ends or raises an interrupt. */
export async function* followRun(call: AgUiCall, client: Client, begun: StartedRun): Events {
  yield [started(client)]
  yield* followAnswer(call, client, begun, createStateWriter())
}

/** A thread's messages and state, then its active answer. */
export async function* followThread(
  call: AgUiCall,
  client: Client,
  { thread, state, questions, answer: active, seq }: ThreadSnapshot,
  signal: AbortSignal,
): Events {
  const { threadId, status } = thread
  const { principal } = call.call
  const answer =
    active !== null && active.state !== 'input-required'
      ? await call.context.engine.follow({
          threadId,
          principal,
          answerId: active.taskId,
          after: seq,
          filter: ANSWER_EVENTS,
          batches: true,
          signal,
        })
      : undefined
  const as = answer ? { ...client, runId: await clientRunId(call, threadId, answer.runId) } : client
  const stateWriter = createStateWriter()
  const messages = messagesIn(state?.values)
  yield [
    started(as),
    ...(messages ? [{ type: 'MESSAGES_SNAPSHOT', messages: toClient(messages) }] : []),
    ...(state ? stateWriter.delta(state.values) : []),
  ]
  if (answer) yield* followAnswer(call, as, { answer, before: messages ?? [] }, stateWriter)
  else if (status === 'interrupted') yield [asking(as, questions, messages ?? [])]
  else yield [finished(as, messages ?? [])]
}

async function* followAnswer(
  { context, call }: AgUiCall,
  client: Client,
  { answer, before }: StartedRun,
  state: StateWriter,
): Events {
  const { engine, options } = context
  const reader = createAnswerReader()
  const writer = createWriter(before, state, options.subagents ?? true)
  for await (const batch of answer) {
    const events = batch.flatMap(reader.push).flatMap((item) => write(writer, item))
    if (events.length > 0) yield events
  }
  const { end, found } = answer
  const isAsking = end?.status === 'asks'
  // Read the thread again: it may have changed, and clients receive its current state.
  const thread =
    (await engine.findThread({ threadId: answer.threadId, principal: call.principal })) ?? found.thread
  const { values } = (await engine.readState(thread)) ?? {}
  const messages = messagesIn(values)
  const used = speaksV1(client.protocolVersion) ? [...writer.used.values()] : []
  yield [
    ...close(writer, isAsking),
    ...(messages ? tell(writer, messages) : []),
    ...(values ? state.delta(values) : []),
    {
      ...(end?.status === 'failed'
        ? { type: 'RUN_ERROR', message: end.error ?? 'The run has failed.', code: 'run_failed' }
        : isAsking
          ? asking(client, unanswered(thread), messages ?? [])
          : end?.status === 'canceled'
            ? canceled(client)
            : finished(client, messages ?? [])),
      ...(used.length > 0 && { usage: used }),
    },
  ]
}

/** The id that a client has given to a run, or the engine's id if no client of this protocol started it. */
export async function clientRunId(
  { context: { engine }, call: { principal } }: AgUiCall,
  threadId: string,
  runId: string,
): Promise<string> {
  const run = await engine.getRun({ threadId, principal, runId })
  const { ag_ui: own } = run?.config.configurable ?? {}
  return isRecord(own) && typeof own.runId === 'string' ? own.runId : runId
}

const started = ({ threadId, runId, protocolVersion }: Client): AgUiEvent => ({
  type: 'RUN_STARTED',
  threadId,
  runId,
  ...(speaksV1(protocolVersion) && { protocolVersion: PROTOCOL_VERSION }),
})

const ended = ({ threadId, runId }: Client, outcome?: object): AgUiEvent => ({
  type: 'RUN_FINISHED',
  threadId,
  runId,
  ...(outcome && { outcome }),
})

function finished(client: Client, messages: readonly Message[]): AgUiEvent {
  const pending = waitingCalls(messages).filter(({ name }) => client.toolNames.includes(name))
  const isTold = speaksV1(client.protocolVersion) && pending.length > 0
  return ended(client, {
    type: 'success',
    ...(isTold && { pendingToolCallIds: pending.map(({ id }) => id) }),
  })
}

const asking = (
  client: Client,
  questions: readonly OpenInterrupt[],
  messages: readonly Message[],
): AgUiEvent =>
  ended(client, { type: 'interrupt', interrupts: interruptsOf(questions, waitingCalls(messages)) })

/** Older clients do not know this outcome. For them, the run has finished. */
const canceled = (client: Client): AgUiEvent =>
  ended(client, speaksV1(client.protocolVersion) ? { type: 'cancelled' } : undefined)
