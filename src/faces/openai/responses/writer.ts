import type { Annotation } from '../../../messages/index.ts'
import { itemsOf } from '../../../messages/record.ts'
import type { AnswerDetail, AnswerItem, MessageRef } from '../../kit/reading/answer-item.ts'
import { createMessageReader, eventsOf } from '../../kit/reading/message-reader.ts'
import { createEnding, markdownOf, responseUsage } from '../ending.ts'
import { idOf } from '../ids.ts'
import { argumentsOf } from '../questions.ts'
import { messagesOfRun } from '../state.ts'
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

export interface ResponseWriter {
  /** The events at the start of every stream of the response. */
  begin(): string
  /**
   * The frames of the answer's next item. They only depend on the items, so every later reader gets the same.
   */
  push(item: AnswerItem): string
  /** The response as written so far. */
  response(): Readonly<Record<string, unknown>>
  readonly isEnded: boolean
  /** Whether the agent waits for an answer. */
  readonly asks: boolean
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

export const responseIdOf = ({ threadId, runId }: Pick<ResponseHead, 'threadId' | 'runId'>): string =>
  idOf('resp', threadId, runId)

const DELTA =
  'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":'

const seconds = (ms: number): number => Math.floor(ms / 1_000)

/**
 * Writes the answer of one run as response events, starting with the first `sequence_number` above `after`.
 */
export function createResponseWriter(head: ResponseHead, after = -1): ResponseWriter {
  const { threadId, runId, echo } = head
  const output: Written[] = []
  const ending = createEnding(head.clientTools)
  const openMessages = new Map<string, OpenMessage>()
  const openReasoning = new Map<string, { readonly at: number; text: string }>()
  let number = 0
  let frames = ''
  let status: Status = echo.background === true ? 'queued' : 'in_progress'
  let error: object | null = null
  let reason: string | null = null
  let completedAt: number | null = null
  let hasBegun = false
  let isEnded = false

  function emit(type: string, fields: object): void {
    const sequence_number = number++
    if (sequence_number <= after) return
    frames += `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`
  }

  function add(type: string, messageId: string | undefined, fields: object, id?: string): number {
    const at = output.length
    const kind = type === 'message' ? 'msg' : type === 'reasoning' ? 'rs' : 'fc'
    const item: OutputItem = { type, id: id ?? idOf(kind, threadId, runId, String(at)), ...fields }
    output.push({ item, messageId, isVoid: false })
    emit('response.output_item.added', { output_index: at, item })
    return at
  }

  function done(at: number, fields: object): void {
    const item = Object.assign(output[at]!.item, fields)
    emit('response.output_item.done', { output_index: at, item })
  }

  const place = (at: number) => ({ item_id: output[at]!.item.id, output_index: at })

  function addText({ id }: MessageRef, index: number, text: string): void {
    const open = openMessages.get(id) ?? openMessage(id)
    let part = open.parts.get(index)
    if (part === undefined) {
      part = open.content.push({ type: 'output_text', text: '', annotations: [], logprobs: [] }) - 1
      open.parts.set(index, part)
      emit('response.content_part.added', {
        ...place(open.at),
        content_index: part,
        part: open.content[part],
      })
    }
    open.content[part]!.text += text
    const sequence_number = number++
    if (sequence_number <= after) return
    // Most events are text deltas, so their frames are built by hand.
    frames += `${DELTA}${sequence_number},"item_id":"${output[open.at]!.item.id}","output_index":${open.at},"content_index":${part},"delta":${JSON.stringify(text)},"logprobs":[]}\n\n`
  }

  function openMessage(id: string): OpenMessage {
    // The announced item is empty.
    const at = add('message', id, { role: 'assistant', status: 'in_progress', content: [] })
    const open = { at, content: [], parts: new Map() }
    openMessages.set(id, open)
    return open
  }

  function endText({ id }: MessageRef, index: number, annotations: readonly Annotation[] = []): void {
    const open = openMessages.get(id)
    const at = open?.parts.get(index)
    if (!open || at === undefined) return
    open.parts.delete(index)
    const part = open.content[at]!
    const where = { ...place(open.at), content_index: at }
    part.annotations = annotations.flatMap(citationOf)
    for (const [annotation_index, annotation] of part.annotations.entries())
      emit('response.output_text.annotation.added', { ...where, annotation_index, annotation })
    emit('response.output_text.done', { ...where, text: part.text, logprobs: [] })
    emit('response.content_part.done', { ...where, part })
  }

  function endMessage(id: string, isCut: boolean): void {
    const open = openMessages.get(id)
    if (!open || open.parts.size > 0) return
    openMessages.delete(id)
    done(open.at, { status: isCut ? 'incomplete' : 'completed', content: open.content })
  }

  function addReasoning({ id }: MessageRef, index: number, text: string): void {
    const key = `${id}\n${index}`
    let open = openReasoning.get(key)
    if (!open) {
      endMessage(id, false)
      open = { at: add('reasoning', id, { summary: [] }), text: '' }
      openReasoning.set(key, open)
      const part = { type: 'summary_text', text: '' }
      emit('response.reasoning_summary_part.added', { ...place(open.at), summary_index: 0, part })
    }
    open.text += text
    emit('response.reasoning_summary_text.delta', { ...place(open.at), summary_index: 0, delta: text })
  }

  function endReasoning({ id }: MessageRef, index: number): void {
    const key = `${id}\n${index}`
    const open = openReasoning.get(key)
    if (!open) return
    openReasoning.delete(key)
    const part = { type: 'summary_text', text: open.text }
    emit('response.reasoning_summary_text.done', { ...place(open.at), summary_index: 0, text: open.text })
    emit('response.reasoning_summary_part.done', { ...place(open.at), summary_index: 0, part })
    done(open.at, { summary: [part] })
  }

  function addCall(callId: string, name: string, args: string): void {
    const fields = { call_id: callId, name, arguments: '', status: 'in_progress' }
    const at = add('function_call', undefined, fields)
    emit('response.function_call_arguments.delta', { ...place(at), delta: args })
    emit('response.function_call_arguments.done', { ...place(at), name, arguments: args })
    done(at, { arguments: args, status: 'completed' })
  }

  function ask(question: (typeof ending.questions)[number]): void {
    const { id, value, approvals } = question
    if (!head.takesApprovals || approvals === 0) {
      addCall(idOf('call', threadId, id), head.questionTool, argumentsOf(question))
      return
    }
    const { actionRequests } = value as { actionRequests: readonly { name: string; args?: object }[] }
    for (const [index, { name, args = {} }] of actionRequests.entries()) {
      const request = { name, arguments: JSON.stringify(args), server_label: SERVER_LABEL }
      done(add('mcp_approval_request', undefined, request, idOf('mcpr', threadId, id, String(index))), {})
    }
  }

  /** Adds the messages of the newest state that were not read before. */
  function recover(messages: readonly unknown[]): void {
    for (const message of messagesOfRun(messages, head.after)) {
      ending.learn(message)
      if (message.role !== 'assistant' || message.id === undefined) continue
      const known = output.filter(({ messageId, isVoid }) => messageId === message.id && !isVoid)
      if (known.length > 0 && known.every(({ item }) => item.status !== 'incomplete')) continue
      for (const one of known) one.isVoid = true
      const reader = createMessageReader({ id: message.id, owner: null, node: undefined })
      for (const event of eventsOf(message)) reader.push(event).forEach(take)
      reader.end(false).forEach(take)
    }
  }

  function end({ status: how, error: message, timestamp }: AnswerItem & { type: 'runEnd' }): void {
    isEnded = true
    completedAt = seconds(timestamp)
    if (how === 'failed') {
      status = 'failed'
      error = { code: 'server_error', message: message ?? 'The agent has failed.' }
    } else if (how === 'interrupted' && ending.questions.length === 0) status = 'cancelled'
    else {
      for (const { id, name, arguments: args } of ending.calls()) addCall(id, name, args)
      for (const question of ending.questions) ask(question)
      reason = REASONS[ending.reason ?? 'stop'] ?? null
      status = reason === null ? 'completed' : 'incomplete'
    }
    // OpenAI has no event for a cancelled response.
    const name = status === 'cancelled' ? 'incomplete' : status
    emit(`response.${name}`, { response: response() })
  }

  function take(item: AnswerDetail): void {
    ending.push(item)
    if ('message' in item && item.message && 'owner' in item.message && item.message.owner !== null) return
    switch (item.type) {
      case 'runStart':
        if (hasBegun) return
        hasBegun = true
        status = 'in_progress'
        emit('response.in_progress', { response: response() })
        return
      case 'textDelta':
        addText(item.message, item.index, item.text)
        return
      case 'textEnd':
        endText(item.message, item.index, item.block.annotations)
        return
      case 'reasoningDelta':
        addReasoning(item.message, item.index, item.text)
        return
      case 'reasoningEnd':
        endReasoning(item.message, item.index)
        return
      case 'media': {
        const text = markdownOf(item.block)
        if (text === undefined) return
        addText(item.message, item.index, text)
        endText(item.message, item.index)
        return
      }
      case 'messageEnd':
        endMessage(item.message.id, item.isCut)
        return
      case 'retract':
        for (const one of output)
          if (one.messageId !== undefined && item.messages.includes(one.messageId)) one.isVoid = true
        return
      case 'gap':
        recover(itemsOf(item.values.messages))
        return
    }
  }

  const response = () => ({
    id: responseIdOf(head),
    object: 'response',
    created_at: seconds(head.createdAt),
    status,
    completed_at: completedAt,
    error,
    incomplete_details: reason === null ? null : { reason },
    output: output.filter(({ isVoid }) => !isVoid).map(({ item }) => item),
    usage: ending.spent && isEnded ? responseUsage(ending.spent) : null,
    ...echo,
  })

  /** Returns the frames written since the last call. */
  function written(): string {
    const text = frames
    frames = ''
    return text
  }

  return {
    begin() {
      emit('response.created', { response: response() })
      if (status === 'queued') emit('response.queued', { response: response() })
      return written()
    },
    push(item) {
      if (!isEnded && item.type === 'runEnd') end(item)
      else if (!isEnded) take(item)
      return written()
    },
    response,
    get isEnded() {
      return isEnded
    },
    get asks() {
      return status === 'completed' && ending.questions.length > 0
    },
  }
}

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
