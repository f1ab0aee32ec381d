import type { Message } from '../../messages/index.ts'
import { isPicture } from './media.ts'
import type { Target } from './target.ts'
import { type PreparedMessage, prepareThread, type Rules } from './thread.ts'
import { isCall, isPlainThought, joinTexts, present, some, textsOf, thoughtsOf } from './write.ts'

/** Ollama's `chat`: a request has `messages`, a response one `message`. Results name the function, not a call. */
export const ollamaTarget: Target = {
  name: 'ollama',
  writeRequest: (messages) => ({ messages: prepareThread(messages, RULES).map(writeTurn) }),
  writeResponse([message]) {
    const { content: said = [] } = message ?? {}
    return present({
      model: message?.metadata?.model,
      message: writeTurn({ role: 'assistant', content: said }),
      done: true,
      done_reason: message?.finishReason === 'length' ? 'length' : 'stop',
    })
  },
}

const RULES: Rules = {
  takes: (media, place) => place === 'user' && media.base64 !== undefined && isPicture(media),
  owns: isPlainThought,
}

/** A message of a thread, or of a response, in which a call may be cut off. */
type Written = Pick<PreparedMessage, 'role' | 'name' | 'toolCallId'> & Pick<Message, 'content'>

function writeTurn(message: Written): Record<string, unknown> {
  const { role, name, content } = message
  const calls = content.filter(isCall)
  const images = content.flatMap((block) => (block.type === 'image' ? [block.base64] : []))
  return present({
    role,
    content: role === 'assistant' ? textsOf(message) : joinTexts(message),
    thinking: role === 'assistant' ? thoughtsOf(message) : undefined,
    images: some(images),
    tool_calls: some(calls.map(({ name, args }) => ({ function: { name, arguments: args } }))),
    tool_name: role === 'tool' ? name : undefined,
  })
}
