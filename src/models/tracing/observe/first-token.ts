import type { ContentBlock, Extras, MessageEvent } from '../../../messages/index.ts'
import { fieldsOf, stringOf } from '../../formats/fields.ts'

/**
 * Whether an event has model content: text, reasoning, a refusal, arguments, data, or a tool call, in any
 * choice. Roles, ids, counts, annotations, tool lists and block announcements are not content. The first
 * content determines the time to the first token.
 *
 * @param chunk The provider's chunk that the event was read from.
 */
export function isContent(event: MessageEvent, chunk: unknown): boolean {
  switch (event.type) {
    case 'blockDelta':
      return event.delta.type === 'fields'
        ? !!event.delta.fields.args || hasTranscript(event.delta.fields)
        : event.delta.type !== 'annotation'
    case 'blockStart':
    case 'blockFinish':
      return event.block !== undefined && hasContent(event.block) && !isEnvelope(chunk)
    default:
      return false
  }
}

function hasContent(block: ContentBlock): boolean {
  if (block.type === 'text' || block.type === 'reasoning') return block.text !== ''
  // The first chunk of spoken audio may only have its id.
  if (block.type === 'audio') return !!(block.base64 || block.url) || hasTranscript(block)
  // Text that the model writes into items such as approval requests and programs.
  const { arguments: args, code = args } = fieldsOf(block.type === 'nonStandard' && block.value)
  return block.type !== 'nonStandard' || !!code
}

const hasTranscript = ({ extras }: { readonly extras?: Extras }): boolean => !!extras?.transcript

/** Whether a chunk only announces the type of the next block, or lists tools. */
function isEnvelope(chunk: unknown): boolean {
  const { type, event_type, contentBlockStart, item } = fieldsOf(chunk)
  return (
    !!contentBlockStart ||
    fieldsOf(item).type === 'mcp_list_tools' ||
    /([_.-]start|\.added)$/.test(stringOf(type ?? event_type))
  )
}

export function iterate(stream: AsyncIterable<unknown> | ReadableStream<unknown>): AsyncIterator<unknown> {
  return stream instanceof ReadableStream ? iterateReadable(stream) : stream[Symbol.asyncIterator]()
}

/**
 * Iterates a `ReadableStream`, for runtimes that cannot. `return` cancels immediately, also during a read.
 */
export function iterateReadable(stream: ReadableStream<unknown>): AsyncIterableIterator<unknown> {
  const reader = stream.getReader()
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next: () => reader.read() as Promise<IteratorResult<unknown>>,
    async return(value) {
      await reader.cancel()
      return { done: true, value }
    },
  }
}
