import type { ContentBlock, Message } from '../../messages/index.ts'
import { isPicture, isWeb } from './media.ts'
import type { Target } from './target.ts'
import { type PreparedMessage, prepareThread, type Rules } from './thread.ts'
import {
  argsOf,
  dataUrlOf,
  isCall,
  isPlainThought,
  joinTexts,
  NO_OUTPUT,
  onlyText,
  present,
  some,
  textsOf,
  thoughtsOf,
  writeFinishReason,
} from './write.ts'

/** Cohere's Chat API, version 2: a request has `messages`, a response one `message`. */
export const cohereTarget: Target = {
  name: 'cohere',
  writeRequest: (messages) => ({
    messages: prepareThread(messages, RULES).filter(isSaid).map(writeTurn),
  }),
  writeResponse([message]) {
    const { content: said = [] } = message ?? {}
    const written = writeTurn({ role: 'assistant', content: said })
    const text = textsOf({ content: said })
    const content = Array.isArray(written.content) ? written.content : text ? [{ type: 'text', text }] : []
    return present({
      id: message?.id,
      message: { ...written, content },
      finish_reason: (message && writeFinishReason(message, FINISH_REASONS)) ?? 'COMPLETE',
    })
  },
}

const FINISH_REASONS = {
  stop: 'COMPLETE',
  length: 'MAX_TOKENS',
  toolCalls: 'TOOL_CALL',
  contentFilter: 'ERROR',
  pause: 'COMPLETE',
  error: 'ERROR',
  other: 'COMPLETE',
} as const

const RULES: Rules = {
  takes: (media, place) =>
    place === 'user' &&
    media.type === 'image' &&
    (isWeb(media) || (media.base64 !== undefined && isPicture(media))),
  owns: (block) => isPlan(block) || isPlainThought(block),
}

/** What the model plans before it calls tools. */
const isPlan = (block: ContentBlock): boolean =>
  block.type === 'reasoning' && block.extras?.type === 'tool_plan'

/** A plan without its calls is no answer. */
const isSaid = ({ role, content }: PreparedMessage): boolean =>
  role !== 'assistant' || content.some((block) => block.type !== 'reasoning' || !isPlan(block))

/** A message of a thread, or of a response, in which a call may be cut off. */
type Written = Pick<PreparedMessage, 'role' | 'name' | 'toolCallId'> & Pick<Message, 'content'>

function writeTurn(message: Written): Record<string, unknown> {
  const { role, toolCallId, content } = message
  if (role === 'tool') return { role, tool_call_id: toolCallId, content: joinTexts(message) || NO_OUTPUT }
  if (role !== 'assistant') {
    return { role, content: onlyText(content) ?? content.map(writePart) }
  }
  const calls = content.filter(isCall)
  const plan = thoughtsOf({ content: content.filter(isPlan) })
  const thinking = thoughtsOf({ content: content.filter((block) => !isPlan(block)) })
  const text = textsOf(message)
  const parts = [
    ...(thinking ? [{ type: 'thinking', thinking }] : []),
    ...(text ? [{ type: 'text', text }] : []),
  ]
  return present({
    role,
    content: thinking ? parts : text || undefined,
    tool_plan: calls.length > 0 ? plan : undefined,
    tool_calls: some(
      calls.map((call) => ({
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: argsOf(call) },
      })),
    ),
  })
}

function writePart(block: ContentBlock): unknown {
  if (block.type === 'text') return { type: 'text', text: block.text }
  return {
    type: 'image_url',
    image_url: { url: block.type === 'image' ? (dataUrlOf(block) ?? block.url) : '' },
  }
}
