import type { ContentBlock } from '../../messages/index.ts'
import { isPicture, isWeb } from './media.ts'
import type { Target } from './target.ts'
import { type PreparedMessage, prepareThread, type Rules } from './thread.ts'
import {
  dataUrlOf,
  isPlainThought,
  joinTexts,
  NO_OUTPUT,
  present,
  some,
  textsOf,
  thoughtsOf,
  writeFinishReason,
} from './write.ts'

/** Cohere's Chat API, version 2: a request has `messages`, a response one `message`. */
export const cohereTarget: Target = {
  name: 'cohere',
  writeRequest: (messages) => ({ messages: prepareThread(messages, RULES).map(writeTurn) }),
  writeResponse([message]) {
    const given = message ?? { role: 'assistant' as const, content: [] }
    const [prepared = { role: 'assistant' as const, content: [] }] = prepareThread([given], RULES)
    const written = writeTurn(prepared)
    const text = textsOf(prepared)
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

function writeTurn(message: PreparedMessage): Record<string, unknown> {
  const { role, toolCallId, content } = message
  if (role === 'tool') return { role, tool_call_id: toolCallId, content: joinTexts(message) || NO_OUTPUT }
  if (role !== 'assistant') {
    const isText = content.every(({ type }) => type === 'text')
    return { role, content: isText ? joinTexts(message) : content.map(writePart) }
  }
  const calls = content.filter((block) => block.type === 'toolCall')
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
      calls.map(({ id, name, args }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(args) },
      })),
    ),
  })
}

function writePart(block: PreparedMessage['content'][number]): unknown {
  if (block.type === 'text') return { type: 'text', text: block.text }
  return {
    type: 'image_url',
    image_url: { url: block.type === 'image' ? (dataUrlOf(block) ?? block.url) : '' },
  }
}
