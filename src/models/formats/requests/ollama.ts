import { dropUndefined, nonEmpty } from '../fields.ts'
import { isPicture } from './media.ts'
import { type PreparedMessage, prepareThread, type Rules } from './thread.ts'
import { isPlainThought, joinTexts, textsOf, thoughtsOf, type WriteRequest } from './write.ts'

/** Ollama's `chat`. Results name the function, not a call. */
export const writeOllama: WriteRequest = (messages) => ({
  messages: prepareThread(messages, RULES).map(writeTurn),
})

const RULES: Rules = {
  takes: (media, place) => place === 'user' && media.base64 !== undefined && isPicture(media),
  owns: isPlainThought,
}

function writeTurn(message: PreparedMessage): Record<string, unknown> {
  const { role, name, content } = message
  const calls = content.filter((block) => block.type === 'toolCall')
  const images = content.flatMap((block) => (block.type === 'image' ? [block.base64] : []))
  return dropUndefined({
    role,
    content: role === 'assistant' ? textsOf(message) : joinTexts(message),
    thinking: role === 'assistant' ? thoughtsOf(message) : undefined,
    images: nonEmpty(images),
    tool_calls: nonEmpty(calls.map(({ name, args }) => ({ function: { name, arguments: args } }))),
    tool_name: role === 'tool' ? name : undefined,
  })
}
