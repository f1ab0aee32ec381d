import type { Message } from '../../../messages/index.ts'
import { collect, type Fields, fieldsOf, listOf, names, stringOf, toText } from '../fields.ts'
import { toBase64 } from '../reading/base64.ts'
import { readBlock, toCall, vocabulary } from '../reading/blocks.ts'
import { type Calls, createCalls, idOfAnsweredCall, idOfCall } from '../reading/calls.ts'
import { defineFormat } from '../reading/define.ts'
import { addError, addHead, addMetadata, addPart, type Choice, choiceOf } from '../reading/draft.ts'
import { readInputMessage, roleOf, toRequest } from '../reading/request.ts'
import { laterCounts, toUsage } from '../reading/usage.ts'

/** Ollama: `chat` and `generate`. The last chunk of a stream has the shape of a response. */
export const ollama = defineFormat({
  name: 'ollama',
  provider: 'ollama',
  detect(value) {
    const { message, response, done, messages, prompt, options, keep_alive, think } = fieldsOf(value)
    if (done !== undefined && (message || response !== undefined)) return done ? 'response' : 'chunk'
    const own = fieldsOf(options) === options || keep_alive !== undefined || think !== undefined
    return (messages || prompt) && (own || listOf(messages).some(isOwn)) ? 'request' : undefined
  },
  readRequest(request) {
    const { options, ...fields } = fieldsOf(request)
    const { prompt, system, images } = fields
    const calls = createCalls('call')
    const list = prompt ? [{ role: 'user', content: prompt, images }] : fields.messages
    const messages = [...(system ? [{ role: 'system', content: system }] : []), ...listOf(list)].map(
      (value) => readMessage(value, calls),
    )
    return toRequest({ ...fields, ...fieldsOf(options) }, REQUEST, messages, list)
  },
  open(draft) {
    let calls: Calls | undefined
    let usage: Fields | undefined
    return (chunk) => {
      const { message = { content: chunk.response, thinking: chunk.thinking }, created_at, error } = chunk
      const { prompt_eval_count, eval_count, done, done_reason: reason } = chunk
      addHead(draft, chunk, RESPONSE)
      if (prompt_eval_count !== undefined || eval_count !== undefined) {
        usage = laterCounts(usage, { prompt_eval_count, eval_count })
        draft.usage = toUsage(usage.prompt_eval_count, usage.eval_count, {}, {})
      }
      const choice = choiceOf(draft)
      readParts(choice, fieldsOf(message), (calls ??= createCalls(toText(created_at) || 'call')))
      addMetadata(choice, fieldsOf(message), MESSAGE)
      choice.reason = reason || (done ? 'stop' : choice.reason)
      if (error) addError(draft, error)
    }
  },
})

const REQUEST = names('messages prompt system images')
const RESPONSE = names('message response thinking done')
const CALL = names('id index function name arguments')
const MESSAGE = names('role content thinking images tool_calls')
const INPUT = names('tool_name tool_call_id name', MESSAGE)

const isOwn = (message: unknown): boolean => {
  const { images, tool_name } = fieldsOf(message)
  return typeof listOf(images)[0] === 'string' || tool_name !== undefined
}

function readParts(choice: Choice, message: Fields, calls: Calls): void {
  const text = toText(message.content)
  const thought = stringOf(message.thinking)
  if (thought) addPart(choice, 'thinking', { type: 'reasoning', text: thought })
  if (text) addPart(choice, 'content', { type: 'text', text })
  for (const image of listOf(message.images))
    addPart(choice, {}, readBlock({ type: 'image', data: toBase64(image) }, IMAGE_VOCABULARY))
  for (const value of listOf(message.tool_calls)) {
    const call = fieldsOf(value)
    const called = fieldsOf(call.function)
    const id = idOfCall(calls, call.id, called.name)
    const extras = collect(collect(undefined, call, CALL), called, CALL)
    // Each call is complete, and a later one may have the same id.
    addPart(choice, call, toCall('toolCall', id, called.name, called.arguments, extras))
  }
}

const IMAGE_VOCABULARY = vocabulary({ image: 'image' }, { base64: 'data' })

function readMessage(value: unknown, calls: Calls): Message {
  const message = fieldsOf(value)
  const { tool_name: name = message.name, tool_call_id: id } = message
  const toolCallId = roleOf(message.role) === 'tool' ? idOfAnsweredCall(calls, id, name) : undefined
  const read = (choice: Choice, fields: Fields) => readParts(choice, fields, calls)
  return readInputMessage(value, read, INPUT, { name, toolCallId })
}
