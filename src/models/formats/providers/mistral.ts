import { type Fields, fieldsOf, listOf, respell, spellings } from '../fields.ts'
import { defineFormat } from '../reading/define.ts'
import { openaiChat, openChat } from './openai-chat.ts'

/**
 * Mistral: chat completions with its own parts, as its API and its SDK spell them. A value that could be
 * OpenAI's as well is detected as OpenAI's, unless this format is selected by name.
 */
export const mistral = defineFormat({
  name: 'mistral',
  provider: 'mistral',
  detect(value) {
    const { data, ...fields } = fieldsOf(value)
    const { choices, messages, usage } = fieldsOf(fieldsOf(data).choices ? data : fields)
    if (!Array.isArray(choices)) {
      const own = Object.keys(fields).some((key) => /^(safe_?prompt|random_?seed)$/i.test(key))
      return messages && (own || listOf(messages).some(isOwn)) ? 'request' : undefined
    }
    const choice = fieldsOf(choices[0])
    const message = choice.delta ?? choice.message
    if (!data && !('finishReason' in choice) && !('promptTokens' in fieldsOf(usage)) && !isOwn(message))
      return undefined
    return choice.message ? 'response' : 'chunk'
  },
  readRequest: (request) => openaiChat.readRequest(respell(request, NAMES)),
  unwrap(value) {
    const { data } = fieldsOf(value)
    const response = fieldsOf(respell(data ?? value, NAMES))
    const choices = listOf(response.choices).map((value) => {
      const choice = fieldsOf(value)
      const name = choice.delta ? 'delta' : 'message'
      return { ...choice, [name]: inOrder(fieldsOf(choice[name])) }
    })
    return response.choices ? { ...response, choices } : (data ?? value)
  },
  shapeOf: (value) => openaiChat.detect(value),
  open: openChat,
})

const NAMES = spellings(
  'choices message messages delta content thinking usage finish_reason tool_calls tool_call_id prompt_tokens completion_tokens total_tokens prompt_tokens_details prompt_token_details cached_tokens num_cached_tokens image_url document_url file_id input_audio reference_ids',
)

/** Makes text content a list, so that text and other parts of a stream keep their order. */
const inOrder = (message: Fields): Fields => {
  const { content } = message
  return typeof content === 'string' && content ? { ...message, content: [content] } : message
}

function isOwn(value: unknown): boolean {
  const message = fieldsOf(value)
  return (
    'toolCalls' in message ||
    'toolCallId' in message ||
    listOf(message.content).some((part) => {
      const { type, thinking } = fieldsOf(part)
      return (
        type === 'reference' || type === 'document_url' || (type === 'thinking' && Array.isArray(thinking))
      )
    })
  )
}
