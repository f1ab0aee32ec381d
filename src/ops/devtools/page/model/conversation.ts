import type { ContentBlock, Message } from '../../../../messages/index.ts'
import {
  createFold,
  type Folded,
  type FoldedToolCall,
  type ThreadEvent,
} from '../../../../messages/thread-events/index.ts'
import { modelCallId, withCallNames } from '../../../../messages/unique-calls.ts'
import { fieldOf } from './json.ts'
import type { WireEvent } from './log.ts'

/** The messages of a thread, folded from its events. */
export interface Conversation {
  add(event: WireEvent): void
  read(): Folded
}

export function createConversation(): Conversation {
  const fold = createFold()
  let runId = ''
  return {
    add(event) {
      const { seq, method, params } = event
      if (method === 'lifecycle' && params.namespace.length === 0) runId = params.data.run_id ?? runId
      const { namespace, node, timestamp, data } = params
      const about = { type: 'event', eventId: '', seq, timestamp, runId, namespace, node, method, data }
      fold.push({ ...about, ...(takesBack(event) && { superseded: true }) } as ThreadEvent)
    },
    read: () => fold.read(),
  }
}

/** Whether an event only takes back what a lost attempt has sent: docs/protocol.md §5.4. */
const takesBack = ({ method, params }: WireEvent): boolean =>
  method === 'messages'
    ? fieldOf(params.data, 'code') === 'superseded'
    : method === 'values' && isWithRemovals(fieldOf(params.data, 'messages'))

const isWithRemovals = (messages: unknown): boolean =>
  Array.isArray(messages) && messages.some((message) => fieldOf(message, 'type') === 'remove')

/** A call as its message has it, with what its tool has told. */
export interface ShownCall {
  readonly id: string
  readonly name: string
  readonly input: unknown
  readonly call: FoldedToolCall | undefined
  /** The tool message that answers it. */
  readonly result: Message | undefined
}

/** One message with its calls. Tool messages are shown with the calls that they answer. */
export interface ShownMessage {
  readonly key: string
  readonly message: Message
  readonly isFinished: boolean
  readonly calls: readonly ShownCall[]
}

/** The messages of the agent itself, or of the subagent that a call is of. */
export function messagesOf(
  { messages, toolCalls }: Folded,
  owner: string | null = null,
): readonly ShownMessage[] {
  const given = messages.filter(({ toolCallId }) => toolCallId === owner)
  // Models use the ids of their calls again, and a result belongs to one of them.
  const named = withCallNames(given.map(({ message }) => message))
  const own = given.map((one, at) => ({ ...one, message: named[at]! }))
  const results = new Map(own.map(({ message }) => [message.toolCallId, message]))
  return own.flatMap(({ message, isFinished }, index) =>
    message.role === 'tool'
      ? []
      : [
          {
            key: message.id ?? `${index}`,
            message,
            isFinished,
            calls: message.content.filter(isCall).map((block): ShownCall => {
              const id = modelCallId(block)
              const call = toolCalls.find((one) => one.id === id)
              const result = results.get(block.id) ?? call?.result
              return { id, name: block.name ?? 'unknown', input: block.args, call, result }
            }),
          },
        ],
  )
}

type CallBlock = Extract<ContentBlock, { readonly type: 'toolCall' | 'serverToolCall' | 'invalidToolCall' }>

const isCall = (block: ContentBlock): block is CallBlock =>
  block.type === 'toolCall' || block.type === 'serverToolCall' || block.type === 'invalidToolCall'
