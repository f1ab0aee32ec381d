import { isRecord } from '../../../../messages/record.ts'
import { type Fields, fieldsOf, listOf, names, stringOf } from '../../fields.ts'
import type { Format, Shape } from '../../format.ts'
import { type CallKey, createCallKeys } from '../../reading/calls.ts'
import { defineFormat } from '../../reading/define.ts'
import { addError, addHead, addMetadata, addPart, choiceOf } from '../../reading/draft.ts'
import { toRequest } from '../../reading/request.ts'
import { laterCounts } from '../../reading/usage.ts'
import {
  addPieces,
  MESSAGE,
  readAnyMessage,
  readContent,
  readCounts,
  speakerOf,
  unwrapMessage,
} from './message.ts'

/**
 * Responses of custom models: `{ choices }`, `{ message }`, `{ role, content }`, `[role, content]` or
 * `{ messages }`, with any blocks. A stream consists of pieces in these shapes or of text; each piece is
 * detected as a response.
 */
export const generic: Format = defineFormat({
  name: 'generic',
  detect(value) {
    const fields = fieldsOf(unwrap(value))
    const { choices, message, messages, usage_metadata: usage } = fields
    // These are chat completions, unless they have something that chat completions lack.
    if (Array.isArray(choices))
      return usage || choices.some((choice) => isOwn(fieldsOf(choice).message)) ? 'response' : undefined
    if (Array.isArray(messages)) {
      if (messages.length > 0 && messages.every((item) => shapeOfMessage(item) === 'response'))
        return 'response'
      return Array.isArray(value) || messages.some(isOwn) || messages.some(Array.isArray)
        ? 'request'
        : undefined
    }
    return shapeOfMessage(message ?? fields)
  },
  readRequest(request) {
    const fields = fieldsOf(unwrap(request))
    const { message, messages, prompt, ...others } = fields
    const list =
      messages ?? ((message ?? prompt) ? [message ?? prompt] : 'content' in fields ? [fields] : undefined)
    const about = list === messages || message || prompt ? others : {}
    return toRequest(about, undefined, listOf(list).map(readAnyMessage), list)
  },
  unwrap,
  // Selected by name, this format reads chat completions too.
  shapeOf: (value) => (fieldsOf(value).choices ? 'response' : generic.detect(value)),
  open(draft) {
    const callKeys: CallKey[] = []
    let known: Fields | undefined
    return (chunk) => {
      const { choices, message, messages, error } = chunk
      const own = !choices && !message && !messages
      addHead(draft, chunk, own ? MESSAGE : RESULT)
      const [first] = listOf(messages)
      if (first) addHead(draft, { id: fieldsOf(first).id }, RESULT)
      let counts = chunk.usage_metadata ?? chunk.usage
      const list = choices ?? messages ?? [message ?? chunk]
      listOf(list).forEach((value, position) => {
        const fields = choices ? fieldsOf(value) : NOTHING
        const { index = position, text } = fields
        const given = fields.message ?? fields.delta ?? (text === undefined ? undefined : { content: text })
        const message = unwrapMessage(choices ? given : value)
        if (own && message.content === undefined && !message.tool_calls) return
        const choice = choiceOf(draft, typeof index === 'number' ? index : position)
        if (choice.open) addPieces(choice, message, (callKeys[choice.index] ??= createCallKeys()))
        else for (const block of readContent(message)) addPart(choice, undefined, block)
        for (const { finish_reason, stop_reason } of [fields, message, chunk])
          choice.reason = finish_reason || stop_reason || choice.reason
        counts ??= message.usage_metadata
        addMetadata(choice, fieldsOf(message.response_metadata))
        if (!own) addMetadata(choice, message, MESSAGE)
        if (!own) addMetadata(choice, fieldsOf(message.extras))
        addMetadata(choice, fields, CHOICE)
      })
      if (isRecord(counts)) {
        known = laterCounts(known, counts)
        draft.usage = readCounts(known)
      }
      if (error) addError(draft, error)
    }
  },
})

const NOTHING: Fields = {}
const RESULT = names('id choices message messages usage_metadata')
const CHOICE = names('index message delta text')

/** Wraps a text, a `[role, content]` pair and a list of messages in objects. */
function unwrap(value: unknown): unknown {
  if (typeof value === 'string') return { content: value }
  if (!Array.isArray(value)) return value
  const [role, content] = value
  if (value.length === 2 && speakerOf({ role }) && (typeof content === 'string' || Array.isArray(content)))
    return { role, content }
  return value.length > 0 && value.every((item) => shapeOfMessage(unwrap(item))) ? { messages: value } : value
}

/** Whether a message is the model's (`response`) or part of the input (`request`). */
function shapeOfMessage(value: unknown): Shape | undefined {
  if (!isRecord(value) && !Array.isArray(value)) return undefined
  const message = unwrapMessage(value)
  const { role, content, tool_calls } = message
  const speaker = speakerOf({ role })
  if (!speaker || (content === undefined && !tool_calls) || isRecord(content)) return undefined
  return speaker === 'assistant' || speaker === 'reasoning' ? 'response' : 'request'
}

/** Whether a message has usage or a block that only the platform's format has. */
function isOwn(value: unknown): boolean {
  const { content, usage_metadata } = unwrapMessage(value)
  return !!usage_metadata || listOf(content).some((block) => isOwnBlock(fieldsOf(block)))
}

const isOwnBlock = ({ type, base64, mime_type }: Fields): boolean =>
  /^(reasoning|tool_call|server_tool_call|server_tool_result)$/.test(stringOf(type)) ||
  !!base64 ||
  !!mime_type
