import type { ContentBlock } from '../../../messages/index.ts'
import { dropUndefined, nonEmpty } from '../fields.ts'
import { isPicture, isWeb } from './media.ts'
import { type PreparedMessage, prepareThread, type Rules } from './thread.ts'
import {
  dataUrlOf,
  isPlainThought,
  joinTexts,
  NO_OUTPUT,
  onlyText,
  textsOf,
  thoughtsOf,
  type WriteRequest,
} from './write.ts'

/** Cohere's Chat API, version 2. */
export const writeCohere: WriteRequest = (messages) => ({
  messages: prepareThread(messages, RULES).filter(isSaid).map(writeTurn),
})

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

function writeTurn(message: PreparedMessage): Record<string, unknown> {
  const { role, toolCallId, content } = message
  if (role === 'tool') return { role, tool_call_id: toolCallId, content: joinTexts(message) || NO_OUTPUT }
  if (role !== 'assistant') {
    return { role, content: onlyText(content) ?? content.map(writePart) }
  }
  const calls = content.filter((block) => block.type === 'toolCall')
  const plan = thoughtsOf({ content: content.filter(isPlan) })
  const thinking = thoughtsOf({ content: content.filter((block) => !isPlan(block)) })
  const text = textsOf(message)
  const parts = [
    ...(thinking ? [{ type: 'thinking', thinking }] : []),
    ...(text ? [{ type: 'text', text }] : []),
  ]
  return dropUndefined({
    role,
    content: thinking ? parts : text || undefined,
    tool_plan: calls.length > 0 ? plan : undefined,
    tool_calls: nonEmpty(
      calls.map((call) => ({
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: JSON.stringify(call.args) },
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
