import { json } from '../../../core/http/index.ts'
import { uuid7 } from '../../../core/ids.ts'
import { withoutMetadataFilter } from '../../../core/principal.ts'
import { lookAtThread, retryConflicts, type ThreadLook } from '../../../engine/index.ts'
import { itemsOf } from '../../../messages/record.ts'
import type { FaceCall } from '../../kit/routes.ts'
import {
  admit,
  beginRun,
  createdAtOf,
  modelOf,
  placeAfter,
  placeFor,
  placeOfOwn,
  type StartedRun,
  type StartPosition,
  startedBefore,
} from '../begin.ts'
import { badRequest, noSuchConversation, noSuchResponse } from '../errors.ts'
import { idOf, partsOf } from '../ids.ts'
import { type Input, readItems } from '../input.ts'
import { type StoredItem, storedItems, takeItems } from '../items/stored-items.ts'
import type { OpenAiContext } from '../options.ts'
import { readRun, streamRun } from '../read.ts'
import { clientToolsOf } from '../request.ts'
import type { InputItem, ResponseBody } from '../wire.ts'
import { echoOf, type ResponseDetails, takesApprovals } from './model.ts'
import { createResponseWriter, type ResponseHead } from './writer.ts'

/** The id of the message with a response's instructions. The next response's instructions replace it. */
const INSTRUCTIONS = 'instructions'

/** `POST /v1/responses`. */
export async function postResponse(context: OpenAiContext, asked: FaceCall<ResponseBody>): Promise<Response> {
  const { body } = asked
  const { stream = false, background = false, store = true } = body
  if (background && !store) throw badRequest('background: a response in the background is stored.')
  const given = withInstructions(readItems(body.input), body.instructions)
  const model = await modelOf(context, withoutMetadataFilter(asked.principal), body.model)
  const named = namedBy(body, given)
  const { call, principal, metadata, command, request } = await admit(
    context,
    asked,
    body.model,
    model,
    named?.threadId,
  )
  const { begun, details } = await retryConflicts(async () => {
    const look =
      named && (await lookAtThread(context.engine, { threadId: named.threadId, principal, command }))
    if (named && !look?.thread) throw named.missing
    const found =
      named && look
        ? await placeOf(context, named, look)
        : await placeOfOwn(context, call, { command, request })
    const kept = body.conversation !== undefined && look?.thread && given.answers.length === 0
    const added = kept ? await storedItems(context.engine, look.thread.threadId) : []
    const whole =
      added.length > 0 ? withInstructions(readItems(withAdded(added, body.input)), body.instructions) : given
    const { place, input: placed } = await placeFor(context, model, found, whole)
    const input = body.instructions ? placed : await withoutInstructions(context, place, placed)

    const conversationId = body.conversation === undefined ? null : idOf('conv', place.threadId)
    const details: ResponseDetails = {
      object: 'response',
      request,
      echo: echoOf(body, conversationId),
      clientTools: clientToolsOf(body),
      after: input.messages.at(-1)?.id ?? null,
      takesApprovals: takesApprovals(body),
      questionTool: context.options.questionTool ?? 'interrupt',
    }
    const begun =
      (await startedBefore(context, call, look?.thread ?? place.look?.thread, request)) ??
      (await beginRun({
        context,
        call,
        model,
        place,
        input,
        clientTools: details.clientTools,
        details,
        isKept: store,
        command,
        metadata,
        runId: uuid7(),
        ...(added.length > 0 && { extraOps: takeItems(added) }),
      }))
    return { begun, details }
  })
  const writer = createResponseWriter(headOf(begun, details))
  const leaving = {
    cancels: !background && (context.options.cancelOnLeave ?? true),
    removes: !store && named === undefined && command === undefined,
  }
  if (stream) return streamRun(context, call, begun, writer, leaving)
  if (!background) await readRun(context, call, begun, writer, leaving)
  return json(writer.response())
}

export const headOf = (
  { threadId, runId }: Pick<StartedRun, 'threadId' | 'runId'>,
  details: ResponseDetails,
): ResponseHead => ({
  ...details,
  threadId,
  runId,
  createdAt: createdAtOf(runId),
})

function withInstructions(input: Input, instructions: string | undefined): Input {
  if (!instructions || input.answers.length > 0) return input
  const message = {
    type: 'system',
    id: INSTRUCTIONS,
    content: instructions,
    additional_kwargs: {},
    response_metadata: {},
  }
  return { ...input, messages: [message, ...input.messages] }
}

/** The items that were added to a conversation come before the input. */
const withAdded = (added: readonly StoredItem[], input: ResponseBody['input'] = []) => [
  ...(added as readonly InputItem[]),
  ...(typeof input === 'string' ? [input] : input),
]

/** Instructions hold for one response, so the next one without any removes them. */
async function withoutInstructions(
  { engine }: OpenAiContext,
  { look, checkpointId }: StartPosition,
  { messages, answers }: Pick<Input, 'messages' | 'answers'>,
): Promise<Pick<Input, 'messages' | 'answers'>> {
  const own = messages.filter(({ id }) => id !== INSTRUCTIONS)
  if (answers.length > 0 || !look?.thread) return { messages: own, answers }
  const state = await engine.readState(look.thread, checkpointId ? { checkpointId } : {})
  if (!itemsOf(state?.values.messages).some((one) => Object(one).id === INSTRUCTIONS))
    return { messages: own, answers }
  const remove = {
    type: 'remove',
    id: INSTRUCTIONS,
    content: '',
    additional_kwargs: {},
    response_metadata: {},
  }
  return { messages: [remove, ...own], answers }
}

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

async function placeOf(
  context: OpenAiContext,
  { threadId, runId }: Named,
  look: ThreadLook,
): Promise<StartPosition> {
  const { thread } = look
  return runId !== undefined && thread ? placeAfter(context, { ...look, thread }, runId) : { threadId, look }
}
