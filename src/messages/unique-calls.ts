import type { ContentBlock } from './content.ts'
import type { Message } from './message.ts'

/**
 * The name of the nth call with this id, from 1. Models number their calls anew in each step
 * (`functions.weather:0`), but clients find a call by its id.
 */
export const callName = (id: string, count: number): string => (count === 1 ? id : `${id}~${count}`)

/** The id that the model gave a call. Its name, which no other call of the conversation has, may differ. */
export const modelCallId = ({ id = '', extras }: Pick<ContentBlock, 'id' | 'extras'>): string =>
  typeof extras?.[MODEL_CALL_ID] === 'string' ? extras[MODEL_CALL_ID] : id

const MODEL_CALL_ID = 'modelCallId'

/** The calls of one message with the same id, and the number of those that have a result. */
interface Namesakes {
  readonly at: number
  readonly names: string[]
  answered: number
}

/**
 * A conversation in which each call has its own id. A repeated one is replaced by the name of the call, in its
 * results as well: a result belongs to a call of the newest message with its id, in order.
 */
export function withCallNames(messages: readonly Message[]): readonly Message[] {
  if (!hasNamesakes(messages)) return messages
  const counts = new Map<string, number>()
  const newest = new Map<string, Namesakes>()

  function nameCall(id: string, at: number): string {
    const count = (counts.get(id) ?? 0) + 1
    counts.set(id, count)
    const name = callName(id, count)
    const known = newest.get(id)
    if (known?.at === at) known.names.push(name)
    else newest.set(id, { at, names: [name], answered: 0 })
    return name
  }

  function nameResult(id: string): string {
    const known = newest.get(id)
    if (!known) return id
    const place = Math.min(known.answered, known.names.length - 1)
    known.answered += 1
    return known.names[place]!
  }

  return messages.map((message, at): Message => {
    const { role, toolCallId, content } = message
    if (role === 'tool' && toolCallId !== undefined) {
      const name = nameResult(toolCallId)
      return name === toolCallId ? message : { ...message, toolCallId: name }
    }
    if (role !== 'assistant') return message
    return {
      ...message,
      content: content.map((block): ContentBlock => {
        if (block.type === 'serverToolResult') return { ...block, toolCallId: nameResult(block.toolCallId) }
        const { id } = block
        if (!isCall(block) || id === undefined) return block
        const name = nameCall(id, at)
        return name === id ? block : { ...block, id: name, extras: { ...block.extras, [MODEL_CALL_ID]: id } }
      }),
    }
  })
}

function hasNamesakes(messages: readonly Message[]): boolean {
  const ids = new Set<string>()
  for (const { role, content } of messages) {
    if (role !== 'assistant') continue
    for (const block of content) {
      if (!isCall(block) || block.id === undefined) continue
      if (ids.has(block.id)) return true
      ids.add(block.id)
    }
  }
  return false
}

export const isCall = ({ type }: ContentBlock): boolean =>
  type === 'toolCall' || type === 'serverToolCall' || type === 'invalidToolCall'
