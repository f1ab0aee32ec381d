import type { ClientTool } from '../../agents/model-request.ts'
import { uuidOf } from '../../core/ids.ts'
import {
  type Answer,
  type CommandKey,
  internalsOf,
  lookAtThread,
  openQuestions,
  questionsBeforeInput,
  receiptIn,
  retryConflicts,
  type ThreadRecord,
} from '../../engine/index.ts'
import type { Message } from '../../messages/index.ts'
import { isRecord } from '../../messages/record.ts'
import type { LogGap, ThreadEvent } from '../../messages/thread-events/index.ts'
import { namesOf, toolsOfRun, withClientTools } from '../kit/client-tools.ts'
import { ANSWER_EVENTS } from '../kit/reading/answer-reader.ts'
import { runSettings } from '../kit/run-config.ts'
import { titleOf } from '../kit/title.ts'
import type { AgUiCall } from './call.ts'
import { decide, isKnownTo, type Situation } from './decide.ts'
import { messagesIn, waitingCalls } from './messages.ts'
import type { RunInput } from './wire.ts'

/**
 * An answer to read, starting with the run that a request has started, or that an earlier identical request
 * had started.
 */
export interface StartedRun {
  readonly answer: Answer<readonly (ThreadEvent | LogGap)[]>
  /** The messages that the client already has. */
  readonly before: readonly Message[]
}

/**
 * Starts the run that a client requests. Returns undefined if there is nothing to start: the client has not
 * answered all open questions of the thread, or it only answers a question that is no longer open.
 */
export const begin = (
  call: AgUiCall,
  input: RunInput,
  signal: AbortSignal,
): Promise<StartedRun | undefined> => retryConflicts(() => beginOnce(call, input, signal))

async function beginOnce(
  asked: AgUiCall,
  input: RunInput,
  signal: AbortSignal,
): Promise<StartedRun | undefined> {
  const { context, call, agent } = asked
  const { engine, options } = context
  const { principal } = call
  const { threadId, messages: sent = [], tools = [] } = input
  const { cancelOnLeave } = options
  const reading = {
    threadId,
    principal,
    signal,
    filter: ANSWER_EVENTS,
    batches: true,
    cancelOnLeave,
  } as const
  const command = await keyOf(input)
  const looked = await lookAtThread(engine, { threadId, principal, command })
  const receipt = receiptIn(looked)
  const situation = await situationOf(asked, input, looked.thread)
  const { history } = situation
  if (receipt && 'runId' in receipt) {
    const { runId, appliedThroughSeq: after } = receipt
    const answer = await engine.follow({ ...reading, answerId: runId, runId, after })
    return answer && { answer, before: history.filter(isKnownTo(sent)) }
  }
  const clientTools = tools.map(({ name, description, parameters }) => ({
    type: 'function' as const,
    function: { name, description, parameters: isRecord(parameters) ? parameters : undefined },
  }))
  const decision = decide(situation, input, { agent, options, clientTools })
  if (decision.kind === 'nothing') return undefined
  const run = { ...runOf(asked, input, clientTools), command, looked }
  if (decision.kind === 'continue')
    return { answer: await engine.follow({ ...reading, start: run }), before: history }
  if (decision.kind === 'answer') {
    const { answers, update } = decision
    const respond = { ...run, answers, ...(Object.keys(update).length > 0 && { update }) }
    return { answer: await engine.follow({ ...reading, respond }), before: history }
  }
  const { added, shared, messages, update, forkBefore: messageId } = decision
  const fork =
    messageId === undefined ? undefined : await engine.checkpointBefore({ threadId, principal, messageId })
  const isRegenerate = fork !== undefined && added.length === 0
  const start = {
    ...run,
    ...(fork !== undefined && { checkpointId: fork }),
    input: isRegenerate ? null : { ...update, ...messages },
    title: titleOf(messages),
    ...(asked.metadata && { metadata: asked.metadata }),
    answer: { details: { runId: input.runId, clientTools: namesOf(clientTools) } },
  }
  const before = [...(fork === undefined ? history : shared), ...added]
  return { answer: await engine.follow({ ...reading, start }), before }
}

/** Reads what the decision about a request needs. */
async function situationOf(
  { context: { engine }, call: { principal } }: AgUiCall,
  { resume = [], messages: sent = [] }: RunInput,
  thread: ThreadRecord | undefined,
): Promise<Situation> {
  const none = { thread, values: {}, history: [], questions: [], ofClient: new Set<string>() }
  if (!thread) return none
  const { values = {} } = (await engine.readState(thread)) ?? {}
  const history = messagesIn(values) ?? []
  const questions = await (resume.length > 0 ? openQuestions : questionsBeforeInput)(engine, thread)
  const sendsResults = sent.some(({ role }) => role === 'tool') && waitingCalls(history).length > 0
  const needsTools = questions.length === 0 && sendsResults
  const ofClient = needsTools ? await toolsOfRun(engine, principal, thread) : none.ofClient
  return { thread, values, history, questions, ofClient }
}

/** The options that every run of a request has. */
function runOf(
  { context: { engine }, call: { request }, assistantId, assistant, metadata }: AgUiCall,
  { runId, context: facts = [], forwardedProps }: RunInput,
  clientTools: readonly ClientTool[],
) {
  const settings = runSettings(internalsOf(engine).limits, assistant, metadata && { metadata })
  const configurable = { ...settings.config.configurable, ag_ui: { runId, context: facts, forwardedProps } }
  return {
    ...settings,
    config: withClientTools({ ...settings.config, configurable }, clientTools),
    assistantId,
    request,
    traceparent: request.headers.get('traceparent'),
  }
}

/**
 * After a client-side tool, a page may send another message under the same run id, so the id alone is not a
 * key.
 */
async function keyOf({ runId, messages = [], resume = [] }: RunInput): Promise<CommandKey> {
  const fingerprint = await uuidOf([runId, messages.length, messages.at(-1) ?? null, resume])
  return { key: `ag-ui:${fingerprint}`, fingerprint }
}
