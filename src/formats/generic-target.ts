import {
  type Annotation,
  type ContentBlock,
  encodeUsage,
  type MediaBlock,
  type Message,
} from '../messages/index.ts'
import type { Target } from './target.ts'
import { asIs, finishWord, present } from './write.ts'

/** The platform's own messages: `messages` in and out, their content always blocks. */
export const platformTarget: Target = {
  name: 'platform',
  writeRequest: (messages) => ({ messages: messages.map(writeMessage) }),
  writeResponse: (messages) => ({
    messages: messages.map((message) =>
      present({
        id: message.id,
        ...writeMessage(message),
        finish_reason:
          finishWord(message, 'stop length tool_calls content_filter pause error other') ?? undefined,
      }),
    ),
  }),
}

function writeMessage({ role, name, toolCallId, status, content, usage, extras }: Message) {
  return present({
    ...extras,
    role,
    name,
    content: content.map(writeBlock),
    tool_call_id: role === 'tool' ? toolCallId : undefined,
    status: role === 'tool' ? status : undefined,
    usage_metadata: usage && encodeUsage(usage),
  })
}

function writeBlock(block: ContentBlock): unknown {
  const { type, id, extras } = block
  switch (type) {
    case 'text': {
      const { text, annotations } = block
      return present({ type, id, text, annotations: annotations?.map(writeAnnotation), extras })
    }
    case 'reasoning':
      return present({ type, id, text: block.text, extras })
    case 'toolCall':
      return present({ type: 'tool_call', id, name: block.name, args: block.args, extras })
    case 'invalidToolCall': {
      // The platform has no word for a call whose arguments cannot be read.
      const { name = '', args: raw_args, error } = block
      return present({ type: 'tool_call', id, name, args: {}, extras: { ...extras, raw_args, error } })
    }
    case 'serverToolCall':
      return present({ type: 'server_tool_call', id, name: block.name, args: block.args, extras })
    case 'serverToolResult': {
      const { toolCallId: tool_call_id, status, output } = block
      return present({ type: 'server_tool_result', id, tool_call_id, status, output, extras })
    }
    case 'nonStandard':
      return asIs(block)
    default:
      return writeMedia(block)
  }
}

/** A block has one `id`: that of the stored file, where it is one. */
const writeMedia = ({ type, id, url, base64, fileId, mimeType, extras }: MediaBlock): unknown =>
  present({ type, id: fileId ?? id, url, base64, mime_type: mimeType, extras })

const writeAnnotation = (annotation: Annotation): unknown => {
  if (annotation.type === 'nonStandard') return annotation.value
  const { type, url, title, startIndex, endIndex, citedText, extras } = annotation
  return present({
    type,
    url,
    title,
    start_index: startIndex,
    end_index: endIndex,
    cited_text: citedText,
    extras,
  })
}
