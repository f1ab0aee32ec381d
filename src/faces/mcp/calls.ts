import type { Principal } from '../../core/http/index.ts'
import { uuid7 } from '../../core/ids.ts'
import { within } from '../../core/time.ts'
import {
  type Answer,
  cancelAnswer,
  type EventItem,
  type FoundAnswer,
  internalsOf,
  lookAtThread,
  RunError,
  retryConflicts,
} from '../../engine/index.ts'
import { itemsOf } from '../../messages/record.ts'
import { permit } from '../kit/access.ts'
import { endOf } from '../kit/answer-messages.ts'
import { keepRunning } from '../kit/answer-row.ts'
import { namedAssistant, reachesAssistant } from '../kit/assistants.ts'
import { isThreadId } from '../kit/ids.ts'
import { runSettings } from '../kit/run-config.ts'
import { titleOf } from '../kit/title.ts'
import { type Fields, type McpCall, takesForms, takesTasks } from './call.ts'
import { invalidParams, toolError } from './errors.ts'
import { PROGRESS_EVENTS, tellProgress } from './progress.ts'
import { inputRequestsOf, questionsOf, readAnswer, readResponses } from './questions.ts'
import { errorResult, questionsResult, resultOf } from './results.ts'
import { inputOf } from './schemas.ts'
import { addressOf, openIn, permittedAnswer, readAddress, taskOf, waitingAnswer } from './tasks.ts'
import { type AssistantTool, findTool, toolOfGraph } from './tools.ts'

export interface ToolParams {
  readonly name: string
  readonly arguments?: object | undefined
}

type Followed = Answer<EventItem<false, true>>

/** The response to a call: a result, input requests for the user, or a task. */
type ToolResult = Fields

/**
 * `tools/call`: runs an assistant, or resumes a run of it that has raised an interrupt. Rejections are
 * returned to the model.
 */
export async function callTool(
  asked: McpCall,
  { name, arguments: args = {} }: ToolParams,
): Promise<ToolResult> {
  const tool = await findTool(asked, name)
  if (!tool) throw invalidParams(`There is no tool ${JSON.stringify(name.slice(0, 200))}.`)
  const state: unknown = asked.request.requestState()
  if (state !== undefined) return resumeCall(asked, tool, String(state))
  return begin(asked, tool, args as Fields).catch(toolError)
}

async function begin(asked: McpCall, tool: AssistantTool, args: Fields): Promise<ToolResult> {
  const { context, call } = asked
  const { engine, authorize, options } = context
  const { agent, assistantId, graphId } = tool
  const { input, threadId: given, messageId } = (await inputOf(agent, options)).read(args)
  const threadId = given ?? uuid7()
  const permitted = await permit(authorize, call, 'runs:create', { threadId, assistantId }, async () => ({}))
  const { principal } = permitted
  const named = await namedAssistant(engine, principal, assistantId)
  if (named.graphId !== graphId || !reachesAssistant(principal, named))
    throw invalidParams(`There is no tool ${JSON.stringify(tool.name)}.`)
  const { metadata } = (permitted.fields ?? {}) as { readonly metadata?: Fields }
  const start = {
    ...common(asked),
    ...runSettings(internalsOf(engine).limits, named.assistant, { metadata }),
    assistantId: graphId,
    input,
    title: titleOf(input),
    metadata: { ...metadata },
  }
  const read = reading(asked, threadId, principal)
  const ofMessage = messageId ? { messageId } : {}
  if (given === undefined) {
    const isNew = { isNewThread: true, answer: { details: ofMessage } }
    return settle(asked, tool, await engine.follow({ ...read, start: { ...start, ...isNew } }), true)
  }
  const begun = await retryConflicts(async () => {
    const looked = await lookAtThread(engine, { threadId, principal })
    const { thread } = looked
    if (!thread)
      throw new RunError(
        'no_such_thread',
        'threadId: this conversation does not exist. Omit threadId to start a new one.',
      )
    const waiting = await waitingAnswer(asked, { threadId, principal, thread })
    if (waiting) return { waiting }
    const messages = itemsOf((await engine.readState(thread))?.values.messages)
    const details = { ...ofMessage, ...definedOf(endOf(messages)) }
    return { answer: await engine.follow({ ...read, start: { ...start, looked, answer: { details } } }) }
  })
  if (begun.waiting) return { ...(await asks(asked, tool, begun.waiting)), isError: true }
  return settle(asked, tool, begun.answer, true)
}

const definedOf = ({ after, unnamed }: ReturnType<typeof endOf>) => ({
  ...(after !== undefined && { after }),
  ...(unnamed !== undefined && { unnamed }),
})

/** The repeated call, with the client's responses to the questions. It starts no second run. */
async function resumeCall(asked: McpCall, tool: AssistantTool, state: string): Promise<ToolResult> {
  const address = readAddress(state)
  const permitted = address && (await permittedAnswer(asked, 'runs:create', address))
  if (
    !address ||
    !permitted ||
    toolOfGraph(asked.context, permitted.found.record.assistantId)?.graphId !== tool.graphId
  )
    throw invalidParams('requestState: it does not belong to this tool.')
  const { found } = permitted
  const { threadId } = found.thread
  // Otherwise a later run already has a response from another caller.
  const isOpen = found.record.runIds.at(-1) === address.answerId
  const questions = isOpen ? questionsOf(await openIn(asked.context.engine, found)) : []
  const { answers, refused } = readResponses(questions, asked.request.inputResponses)
  if (refused) return errorResult(`The user ${refused} the question. It stays open.`, threadId)
  if (questions.length > 0 && Object.keys(answers).length === 0) return outcomeOf(asked, tool, found)
  return resumeAndFollow(asked, tool, permitted, answers).catch(toolError)
}

/** `answer_question`: answers one question of a thread, for clients that cannot show forms. */
export async function answerQuestion(
  asked: McpCall,
  { arguments: args = {} }: ToolParams,
): Promise<ToolResult> {
  const { threadId, questionId, answer } = args as Fields
  return respond().catch(toolError)

  async function respond(): Promise<ToolResult> {
    if (typeof threadId !== 'string' || !isThreadId(threadId))
      throw new RunError('invalid_argument', 'threadId: expected the threadId that the question came with.')
    const permitted = await permittedAnswer(asked, 'runs:create', { threadId })
    const tool = permitted && toolOfGraph(asked.context, permitted.found.record.assistantId)
    const questions =
      permitted && tool ? questionsOf(await openIn(asked.context.engine, permitted.found)) : []
    const [question, ...others] = questions.filter(({ id }) => questionId === undefined || id === questionId)
    if (!permitted || !tool || !question)
      throw new RunError('no_such_interrupt', 'This question is not open.')
    if (others.length > 0)
      throw new RunError(
        'invalid_argument',
        'questionId: several questions are open. Set questionId to one of them.',
      )
    const { id, form } = question
    // Models send a string for a form with one field, and an object as JSON.
    const read =
      readAnswer(form, answer) ?? readAnswer(form, { answer }) ?? readAnswer(form, parsedJson(answer))
    if (!read)
      throw new RunError(
        'invalid_argument',
        `answer: expected a value that matches ${JSON.stringify(form.schema)}.`,
      )
    return resumeAndFollow(asked, tool, permitted, { [id]: read.answer })
  }
}

/** The value of a JSON text, or undefined. */
function parsedJson(value: unknown): unknown {
  try {
    return typeof value === 'string' ? JSON.parse(value) : undefined
  } catch {
    return undefined
  }
}

/** Resumes an answer with the responses, if it has open questions, and follows it. */
async function resumeAndFollow(
  asked: McpCall,
  tool: AssistantTool,
  { found, principal }: { readonly found: FoundAnswer; readonly principal: Principal | null },
  answers: Fields,
): Promise<ToolResult> {
  const { engine } = asked.context
  const { threadId } = found.thread
  const read = reading(asked, threadId, principal)
  const responds = Object.keys(answers).length > 0
  const { taskId: answerId, details, runIds } = found.record
  const answer = responds
    ? await engine.follow({
        ...read,
        respond: { ...common(asked), answers, answer: { id: answerId, details } },
      })
    : await engine.follow({ ...read, answerId, runId: runIds.at(-1) })
  if (!answer) throw new RunError('no_such_task', 'The run no longer exists.')
  return settle(asked, tool, answer, responds)
}

const reading = ({ request: { signal } }: McpCall, threadId: string, principal: Principal | null) =>
  ({ threadId, principal, signal, filter: PROGRESS_EVENTS, batches: true }) as const

const common = ({ call: { request } }: McpCall) => ({
  request,
  traceparent: request.headers.get('traceparent'),
})

const AFTER_MS = 5_000

/**
 * Waits until an answer has ended or raises an interrupt; if the client can follow tasks, for at most
 * `afterMs`. If the client disconnects, the answer is cancelled if this call started it and no other call in
 * this process follows it.
 */
async function settle(
  asked: McpCall,
  tool: AssistantTool,
  answer: Followed,
  hasStarted: boolean,
): Promise<ToolResult> {
  const { context, call, request } = asked
  const { engine, options } = context
  const { threadId } = answer
  keepRunning(context, call, threadId)
  const { progressToken } = request._meta ?? {}
  let isTask = false
  const over =
    progressToken === undefined ? answer.ended() : tellProgress(asked, progressToken, answer, () => isTask)
  try {
    if (takesTasks(asked)) {
      const { afterMs = AFTER_MS } = options.tasks || {}
      await within(afterMs, over)
      isTask = !answer.end
      if (isTask) return { resultType: 'task', ...taskOf(context, answer.found) }
    }
    await over
  } catch (error) {
    if (request.signal.aborted && hasStarted && !internalsOf(engine).isFollowed(threadId)) {
      const { principal } = call
      await cancelAnswer(engine, { threadId, principal, answerId: answer.id })
    }
    throw error
  }
  return outcomeOf(asked, tool, answer.found)
}

async function outcomeOf(asked: McpCall, tool: AssistantTool, found: FoundAnswer): Promise<ToolResult> {
  return found.record.state === 'input-required'
    ? asks(asked, tool, found)
    : resultOf(asked.context, tool, found)
}

/** The questions of an answer, as forms if the client shows them. */
async function asks(asked: McpCall, tool: AssistantTool, found: FoundAnswer): Promise<ToolResult> {
  const { threadId, runIds } = found.record
  const questions = questionsOf(await openIn(asked.context.engine, found))
  if (questions.length === 0 || !takesForms(asked))
    return questionsResult(asked.context, tool, { threadId, questions })
  const requestState = addressOf(threadId, runIds.at(-1)!)
  return { resultType: 'input_required', inputRequests: inputRequestsOf(questions), requestState }
}
