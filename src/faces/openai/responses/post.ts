import { json } from '../../../core/http/index.ts'
import { uuid7 } from '../../../core/ids.ts'
import { withoutMetadataFilter } from '../../../core/principal.ts'
import {
  internalsOf,
  lookAtThread,
  openQuestions,
  retryConflicts,
  type ThreadRecord,
} from '../../../engine/index.ts'
import type { FaceCall } from '../../kit/routes.ts'
import {
  type Admitted,
  admit,
  createdAtOf,
  forkAfter,
  messagesAt,
  modelOf,
  ownThread,
  readCalls,
  type StartedRun,
  startedBefore,
  startRun,
} from '../begin.ts'
import { decideResponse, hasResults, NEW, type Situation } from '../decide.ts'
import { badRequest, noSuchConversation, noSuchResponse } from '../errors.ts'
import { idOf, partsOf } from '../ids.ts'
import { type Input, readItems } from '../input.ts'
import type { OpenAiContext } from '../options.ts'
import { readRun, streamRun } from '../read.ts'
import { clientToolsOf } from '../request.ts'
import { type StoredItem, storedItems, takeItems } from '../stored-items.ts'
import type { InputItem, ResponseBody } from '../wire.ts'
import { echoOf, type ResponseDetails, takesApprovals } from './model.ts'
import { createResponseWriter, type ResponseHead } from './writer.ts'

/** A permitted request, with all that its decision needs besides the thread. */
interface Asked extends Admitted {
  readonly body: ResponseBody
  readonly given: Input
  readonly named: Named | undefined
}

/** `POST /v1/responses`. */
export async function postResponse(context: OpenAiContext, call: FaceCall<ResponseBody>): Promise<Response> {
  const { body } = call
  const { stream = false, background = false, store = true } = body
  if (background && !store) throw badRequest('background: a response in the background is stored.')
  const given = readItems(body.input)
  const model = await modelOf(context, withoutMetadataFilter(call.principal), body.model)
  const named = namedBy(body, given)
  const admitted = await admit(context, call, body.model, model, named?.threadId)
  const { run, details } = await retryConflicts(() => begin({ ...admitted, body, given, named }))
  const writer = createResponseWriter(headOf(run, details))
  const leaving = {
    cancels: !background && (context.options.cancelOnLeave ?? true),
    removes: !store && named === undefined && admitted.command === undefined,
  }
  if (stream) return streamRun(context, admitted.call, run, writer, leaving)
  if (!background) await readRun(context, admitted.call, run, writer, leaving)
  return json(writer.response())
}

/** Looks at the thread, decides, and starts. */
async function begin(asked: Asked): Promise<{ readonly run: StartedRun; readonly details: ResponseDetails }> {
  const { context, principal, command, body, given, named } = asked
  const { engine } = context
  const own = named
    ? { ...named, look: await lookAtThread(engine, { threadId: named.threadId, principal, command }) }
    : await ownThread(asked)
  const thread = named && own.look?.thread
  if (named && !thread) throw named.missing
  const earlier = await startedBefore(asked, own.look)
  if (earlier) return { run: earlier, details: detailsOf(asked, earlier.threadId, null) }
  const takesAdded = body.conversation !== undefined && thread && given.answers.length === 0
  const added = takesAdded ? await storedItems(engine, thread.threadId) : []
  const input = added.length > 0 ? readItems(withAdded(added, body.input)) : given
  const situation = thread ? await situationOf(asked, input, thread) : NEW
  const decision = decideResponse(input, body.instructions, situation)
  const isMoved = decision.kind === 'start' && decision.isMoved
  const { threadId, look } = isMoved ? { threadId: uuid7() } : own
  const details = detailsOf(asked, threadId, decision.messages.at(-1)?.id ?? null)
  const run = await startRun(asked, {
    threadId,
    look,
    decision,
    clientTools: details.clientTools,
    details,
    isKept: body.store ?? true,
    runId: uuid7(),
    extraOps: takeItems(added),
  })
  return { run, details }
}

/** Reads what the decision about a response needs. */
async function situationOf(
  asked: Asked,
  { messages, answers }: Input,
  thread: ThreadRecord,
): Promise<Situation> {
  const { body, model, named } = asked
  const { engine } = asked.context
  const after = named?.runId
  const fork = after === undefined ? undefined : await forkAfter(engine, thread, after)
  const { aliases } = internalsOf(engine)
  const bound = thread.assistantId
  const isOfOther = bound !== null && (aliases.get(bound) ?? bound) !== model.graphId
  const found = { ...NEW, thread, fork, isOfOther }
  if (fork === null) return found
  if (answers.length > 0)
    return isOfOther ? found : { ...found, questions: await openQuestions(engine, thread) }
  if (!isOfOther && hasResults(messages))
    return { ...found, ...(await readCalls(asked, thread, fork, after)) }
  return isOfOther || !body.instructions
    ? { ...found, messages: await messagesAt(engine, thread, fork) }
    : found
}

/** `after`: the last message of the input. */
const detailsOf = (
  { context, request, body }: Asked,
  threadId: string,
  after: string | null,
): ResponseDetails => ({
  object: 'response',
  request,
  echo: echoOf(body, body.conversation === undefined ? null : idOf('conv', threadId)),
  clientTools: clientToolsOf(body),
  after,
  takesApprovals: takesApprovals(body),
  questionTool: context.options.questionTool ?? 'interrupt',
})

export const headOf = (
  { threadId, runId }: Pick<StartedRun, 'threadId' | 'runId'>,
  details: ResponseDetails,
): ResponseHead => ({
  ...details,
  threadId,
  runId,
  createdAt: createdAtOf(runId),
})

/** The items that were added to a conversation come before the input. */
const withAdded = (added: readonly StoredItem[], input: ResponseBody['input'] = []) => [
  ...(added as readonly InputItem[]),
  ...(typeof input === 'string' ? [input] : input),
]

/** What a request continues. */
interface Named {
  readonly threadId: string
  /** The response that it continues after. Absent if it continues at the newest state. */
  readonly runId?: string | undefined
  /** The error if the thread does not exist or has another owner. */
  readonly missing: Error
}

/** What a request names. Throws 400 if it names two things, and 404 for an unknown id. */
function namedBy(body: ResponseBody, { answers, base }: Input): Named | undefined {
  const { previous_response_id: previous, conversation, store } = body
  if (previous !== undefined && conversation !== undefined)
    throw badRequest(
      'previous_response_id: a response goes on with another one or with a conversation, not with both.',
    )
  if (store === false && conversation !== undefined)
    throw badRequest('store: what is added to a conversation is stored.')
  const [first] = answers
  if (first) {
    if (answers.some(({ threadId }) => threadId !== first.threadId))
      throw badRequest('input: answer the questions of one conversation at a time.')
    return { threadId: first.threadId, missing: badRequest('input: the question is not open any more.') }
  }
  if (previous !== undefined) {
    const [threadId, runId] = partsOf('resp', previous) ?? []
    const missing = noSuchResponse(previous)
    if (threadId === undefined || runId === undefined) throw missing
    return { threadId, runId, missing }
  }
  if (conversation !== undefined) {
    const id = typeof conversation === 'string' ? conversation : conversation.id
    return { threadId: threadOfConversation(id), missing: noSuchConversation(id) }
  }
  if (!base) return undefined
  return { ...base, missing: badRequest('input: the items that item_reference names are not kept any more.') }
}

/** The thread of a conversation. Any thread id is also accepted. */
export const threadOfConversation = (id: string): string => partsOf('conv', id)?.[0] ?? id
