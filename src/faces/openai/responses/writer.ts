import type { Annotation } from '../../../messages/index.ts'
import { itemsOf } from '../../../messages/record.ts'
import type { AnswerDetail, AnswerItem, MessageRef } from '../../kit/reading/answer-item.ts'
import { createMessageReader, eventsOf } from '../../kit/reading/message-reader.ts'
import {
  clientCalls,
  createEnding,
  learn,
  markdownOf,
  messagesOfRun,
  type OpenQuestion,
  pushEnding,
  reasonOf,
  responseUsage,
  seconds,
} from '../ending.ts'
import { idOf } from '../ids.ts'
import { argumentsOf } from '../questions.ts'
import type { RunWriter } from '../read.ts'
import { type ResponseDetails, SERVER_LABEL } from './model.ts'

/** A response to write. */
export interface ResponseHead
  extends Pick<ResponseDetails, 'echo' | 'clientTools' | 'after' | 'takesApprovals' | 'questionTool'> {
  readonly threadId: string
  readonly runId: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

export type Status = 'queued' | 'in_progress' | 'completed' | 'failed' | 'incomplete' | 'cancelled'

export interface ResponseWriter extends RunWriter {
  /** The response as written so far. */
  response(): Readonly<Record<string, unknown>>
}

interface TextPart {
  readonly type: 'output_text'
  text: string
  annotations: readonly object[]
  readonly logprobs: readonly never[]
}

interface OutputItem {
  readonly type: string
  readonly id: string
  status?: string
  readonly [field: string]: unknown
}

/** An output item, and its message. */
interface Written {
  readonly item: OutputItem
  readonly messageId: string | undefined
  /** Another process rewrites the message. */
  isVoid: boolean
}

interface OpenMessage {
  readonly at: number
  readonly content: TextPart[]
  /** The open part of each block. */
  readonly parts: Map<number, number>
}

const DELTA =
  'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":'

/** A response as written so far. Events up to the number `after` are not sent. */
const createDraft = (head: ResponseHead, after: number) => ({
  head,
  after,
  output: [] as Written[],
  ending: createEnding(head.clientTools),
  openMessages: new Map<string, OpenMessage>(),
  openReasoning: new Map<string, { readonly at: number; text: string }>(),
  number: 0,
  frames: '',
  status: (head.echo.background === true ? 'queued' : 'in_progress') as Status,
  error: null as object | null,
  reason: null as string | null,
  completedAt: null as number | null,
  hasBegun: false,
})

type Draft = ReturnType<typeof createDraft>

/**
 * Writes the answer of one run as response events, starting with the first `sequence_number` above `after`. The
 * frames only depend on the items, so every later reader gets the same.
 */
export function createResponseWriter(head: ResponseHead, after = -1): ResponseWriter {
  const draft = createDraft(head, after)
  const isEnded = (): boolean => draft.completedAt !== null
  return {
    begin() {
      emit(draft, 'response.created', { response: responseOf(draft) })
      if (draft.status === 'queued') emit(draft, 'response.queued', { response: responseOf(draft) })
      return takeFrames(draft)
    },
    push(item) {
      if (!isEnded() && item.type === 'runEnd') endRun(draft, item)
      else if (!isEnded()) writeItem(draft, item)
      return takeFrames(draft)
    },
    response: () => responseOf(draft),
    get isEnded() {
      return isEnded()
    },
    get asks() {
      return draft.status === 'completed' && draft.ending.questions.size > 0
    },
  }
}

function writeItem(draft: Draft, item: AnswerDetail): void {
  pushEnding(draft.ending, item)
  if ('message' in item && item.message && 'owner' in item.message && item.message.owner !== null) return
  switch (item.type) {
    case 'runStart':
      if (draft.hasBegun) return
      draft.hasBegun = true
      draft.status = 'in_progress'
      emit(draft, 'response.in_progress', { response: responseOf(draft) })
      return
    case 'textDelta':
      addText(draft, item.message, item.index, item.text)
      return
    case 'textEnd':
      endText(draft, item.message, item.index, item.block.annotations)
      return
    case 'reasoningDelta':
      addReasoning(draft, item.message, item.index, item.text)
      return
    case 'reasoningEnd':
      endReasoning(draft, item.message, item.index)
      return
    case 'media': {
      const text = markdownOf(item.block)
      if (text === undefined) return
      addText(draft, item.message, item.index, text)
      endText(draft, item.message, item.index)
      return
    }
    case 'messageEnd':
      endMessage(draft, item.message.id, item.isCut)
      return
    case 'retract':
      for (const one of draft.output)
        if (one.messageId !== undefined && item.messages.includes(one.messageId)) one.isVoid = true
      return
    case 'gap':
      recover(draft, itemsOf(item.values.messages))
      return
  }
}

function emit(draft: Draft, type: string, fields: object): void {
  const sequence_number = draft.number++
  if (sequence_number <= draft.after) return
  draft.frames += `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`
}

/** The frames written since the last call. */
function takeFrames(draft: Draft): string {
  const { frames } = draft
  draft.frames = ''
  return frames
}

function addItem(
  draft: Draft,
  type: string,
  messageId: string | undefined,
  fields: object,
  id?: string,
): number {
  const { output, head } = draft
  const at = output.length
  const kind = type === 'message' ? 'msg' : type === 'reasoning' ? 'rs' : 'fc'
  const item: OutputItem = { type, id: id ?? idOf(kind, head.threadId, head.runId, String(at)), ...fields }
  output.push({ item, messageId, isVoid: false })
  emit(draft, 'response.output_item.added', { output_index: at, item })
  return at
}

function endItem(draft: Draft, at: number, fields: object): void {
  const item = Object.assign(draft.output[at]!.item, fields)
  emit(draft, 'response.output_item.done', { output_index: at, item })
}

const place = ({ output }: Draft, at: number) => ({ item_id: output[at]!.item.id, output_index: at })

function addText(draft: Draft, { id }: MessageRef, index: number, text: string): void {
  const open = draft.openMessages.get(id) ?? openMessage(draft, id)
  const { at, content, parts } = open
  let content_index = parts.get(index)
  if (content_index === undefined) {
    const part: TextPart = { type: 'output_text', text: '', annotations: [], logprobs: [] }
    content_index = content.push(part) - 1
    parts.set(index, content_index)
    emit(draft, 'response.content_part.added', { ...place(draft, at), content_index, part })
  }
  content[content_index]!.text += text
  const sequence_number = draft.number++
  if (sequence_number <= draft.after) return
  // Most events are text deltas, so their frames are built by hand.
  draft.frames += `${DELTA}${sequence_number},"item_id":"${draft.output[at]!.item.id}","output_index":${at},"content_index":${content_index},"delta":${JSON.stringify(text)},"logprobs":[]}\n\n`
}

function openMessage(draft: Draft, id: string): OpenMessage {
  // The announced item is empty.
  const at = addItem(draft, 'message', id, { role: 'assistant', status: 'in_progress', content: [] })
  const open = { at, content: [], parts: new Map() }
  draft.openMessages.set(id, open)
  return open
}

function endText(
  draft: Draft,
  { id }: MessageRef,
  index: number,
  annotations: readonly Annotation[] = [],
): void {
  const open = draft.openMessages.get(id)
  const at = open?.parts.get(index)
  if (!open || at === undefined) return
  open.parts.delete(index)
  const part = open.content[at]!
  const where = { ...place(draft, open.at), content_index: at }
  part.annotations = annotations.flatMap(citationOf)
  for (const [annotation_index, annotation] of part.annotations.entries())
    emit(draft, 'response.output_text.annotation.added', { ...where, annotation_index, annotation })
  emit(draft, 'response.output_text.done', { ...where, text: part.text, logprobs: [] })
  emit(draft, 'response.content_part.done', { ...where, part })
}

function endMessage(draft: Draft, id: string, isCut: boolean): void {
  const open = draft.openMessages.get(id)
  if (!open || open.parts.size > 0) return
  draft.openMessages.delete(id)
  endItem(draft, open.at, { status: isCut ? 'incomplete' : 'completed', content: open.content })
}

function addReasoning(draft: Draft, { id }: MessageRef, index: number, delta: string): void {
  const key = `${id}\n${index}`
  let open = draft.openReasoning.get(key)
  if (!open) {
    endMessage(draft, id, false)
    open = { at: addItem(draft, 'reasoning', id, { summary: [] }), text: '' }
    draft.openReasoning.set(key, open)
    const part = { type: 'summary_text', text: '' }
    emit(draft, 'response.reasoning_summary_part.added', { ...place(draft, open.at), summary_index: 0, part })
  }
  open.text += delta
  emit(draft, 'response.reasoning_summary_text.delta', { ...place(draft, open.at), summary_index: 0, delta })
}

function endReasoning(draft: Draft, { id }: MessageRef, index: number): void {
  const key = `${id}\n${index}`
  const open = draft.openReasoning.get(key)
  if (!open) return
  draft.openReasoning.delete(key)
  const { at, text } = open
  const part = { type: 'summary_text', text }
  const where = { ...place(draft, at), summary_index: 0 }
  emit(draft, 'response.reasoning_summary_text.done', { ...where, text })
  emit(draft, 'response.reasoning_summary_part.done', { ...where, part })
  endItem(draft, at, { summary: [part] })
}

function addCall(draft: Draft, callId: string, name: string, args: string): void {
  const fields = { call_id: callId, name, arguments: '', status: 'in_progress' }
  const at = addItem(draft, 'function_call', undefined, fields)
  emit(draft, 'response.function_call_arguments.delta', { ...place(draft, at), delta: args })
  emit(draft, 'response.function_call_arguments.done', { ...place(draft, at), name, arguments: args })
  endItem(draft, at, { arguments: args, status: 'completed' })
}

function addQuestion(draft: Draft, question: OpenQuestion): void {
  const { threadId, questionTool, takesApprovals } = draft.head
  const { id, value, approvals } = question
  if (!takesApprovals || approvals === 0) {
    addCall(draft, idOf('call', threadId, id), questionTool, argumentsOf(question))
    return
  }
  const { actionRequests } = value as { actionRequests: readonly { name: string; args?: object }[] }
  for (const [index, { name, args = {} }] of actionRequests.entries()) {
    const request = { name, arguments: JSON.stringify(args), server_label: SERVER_LABEL }
    const requestId = idOf('mcpr', threadId, id, String(index))
    endItem(draft, addItem(draft, 'mcp_approval_request', undefined, request, requestId), {})
  }
}

/** Adds the messages of the newest state that were not read before. */
function recover(draft: Draft, messages: readonly unknown[]): void {
  for (const message of messagesOfRun(messages, draft.head.after)) {
    learn(draft.ending, message)
    const { id, role } = message
    if (role !== 'assistant' || id === undefined) continue
    const known = draft.output.filter(({ messageId, isVoid }) => messageId === id && !isVoid)
    if (known.length > 0 && known.every(({ item }) => item.status !== 'incomplete')) continue
    for (const one of known) one.isVoid = true
    const reader = createMessageReader({ id, owner: null, node: undefined })
    const items = [...eventsOf(message).flatMap((event) => reader.push(event)), ...reader.end(false)]
    for (const item of items) writeItem(draft, item)
  }
}

function endRun(draft: Draft, { status, error, timestamp }: AnswerItem & { type: 'runEnd' }): void {
  const { ending } = draft
  draft.completedAt = seconds(timestamp)
  if (status === 'failed') {
    draft.status = 'failed'
    draft.error = { code: 'server_error', message: error ?? 'The agent has failed.' }
  } else if (status === 'interrupted' && ending.questions.size === 0) draft.status = 'cancelled'
  else {
    for (const { id, name, arguments: args } of clientCalls(ending)) addCall(draft, id, name, args)
    for (const question of ending.questions.values()) addQuestion(draft, question)
    draft.reason = REASONS[reasonOf(ending) ?? 'stop'] ?? null
    draft.status = draft.reason === null ? 'completed' : 'incomplete'
  }
  // OpenAI has no event for a cancelled response.
  const name = draft.status === 'cancelled' ? 'incomplete' : draft.status
  emit(draft, `response.${name}`, { response: responseOf(draft) })
}

const responseOf = ({ head, status, completedAt, error, reason, output, ending }: Draft) => ({
  id: idOf('resp', head.threadId, head.runId),
  object: 'response',
  created_at: seconds(head.createdAt),
  status,
  completed_at: completedAt,
  error,
  incomplete_details: reason === null ? null : { reason },
  output: output.filter(({ isVoid }) => !isVoid).map(({ item }) => item),
  usage: ending.used.length > 0 && completedAt !== null ? responseUsage(ending.used) : null,
  ...head.echo,
})

const REASONS: Readonly<Partial<Record<string, string>>> = {
  length: 'max_output_tokens',
  contentFilter: 'content_filter',
}

const citationOf = (annotation: Annotation): readonly object[] =>
  annotation.type === 'citation' && annotation.url !== undefined
    ? [
        {
          type: 'url_citation',
          url: annotation.url,
          title: annotation.title ?? '',
          start_index: annotation.startIndex ?? 0,
          end_index: annotation.endIndex ?? 0,
        },
      ]
    : []
