import { equal, hold } from '../check.ts'
import { at, dataOf, type WireEvent } from './events.ts'

/** A message, assembled from `messages` events. */
export interface ObservedMessage {
  readonly id: string
  /** The text of its text blocks: the sum of their deltas, which must equal their final text. */
  streamed: string
  finished: string
}

interface Draft {
  readonly message: ObservedMessage
  /** The text of each open block by index. Undefined once the block has ended. */
  readonly blocks: Map<unknown, string | undefined>
}

/**
 * Checks that messages, keyed by namespace and node, and their blocks start and end once, and that each block
 * has its own index. Blocks may overlap. Returns the messages that have ended. It uses no decoder, because a
 * server may send anything.
 */
export function readMessages(events: readonly WireEvent[]): readonly ObservedMessage[] {
  const drafts = new Map<string, Draft>()
  const told: ObservedMessage[] = []
  for (const { method, namespace, node, data } of events) {
    const event = at(data, 'event')
    if (method !== 'messages' || event === 'usage' || event === 'provider') continue
    const key = `${namespace.join('|')} ${node}`
    const draft = drafts.get(key)
    if (event === 'message-start') {
      const end = `the end of ${draft?.message.id} before the next start`
      hold('the messages of a node', draft === undefined, end, data)
      const message = { id: String(at(data, 'id')), streamed: '', finished: '' }
      drafts.set(key, { message, blocks: new Map() })
      continue
    }
    hold('the messages of a node', draft !== undefined, 'message-start first', data)
    if (event !== 'message-finish' && event !== 'error') {
      readBlock(draft, event, data)
      continue
    }
    drafts.delete(key)
    if (event === 'error') continue
    const open = [...draft.blocks].filter(([, text]) => text !== undefined)
    hold(`the blocks of ${draft.message.id}`, open.length === 0, 'all finished', open)
    told.push(draft.message)
  }
  const open = [...drafts.values()].map(({ message }) => message.id)
  equal('the messages without an end', open, [])
  return told
}

function readBlock({ message, blocks }: Draft, event: unknown, data: unknown): void {
  const index = at(data, 'index')
  const text = at(data, event === 'content-block-delta' ? 'delta' : 'content', 'text')
  if (event === 'content-block-start') {
    hold(`the blocks of ${message.id}`, !blocks.has(index), 'each index once', data)
    blocks.set(index, typeof text === 'string' ? text : '')
    return
  }
  const before = blocks.get(index)
  hold(`the blocks of ${message.id}`, before !== undefined, 'a start before, and no end', data)
  if (event === 'content-block-delta') {
    if (typeof text === 'string') blocks.set(index, before + text)
    return
  }
  equal(`the event of ${message.id}`, event, 'content-block-finish')
  blocks.set(index, undefined)
  if (at(data, 'content', 'type') !== 'text') return
  message.streamed += before
  message.finished += String(text)
}

/**
 * Checks that each tool call starts once, ends once, and sends nothing before or after. Returns their ids.
 */
export function readToolCalls(events: readonly WireEvent[]): readonly string[] {
  const open = new Set<string>()
  const ids: string[] = []
  for (const data of dataOf(events, 'tools')) {
    const id = String(at(data, 'tool_call_id'))
    const event = at(data, 'event')
    if (event === 'tool-started') {
      hold('the tool calls', !ids.includes(id), `one start of ${id}`, data)
      ids.push(id)
      open.add(id)
    } else {
      hold('the tool calls', open.has(id), `a start of ${id} before, and no end`, data)
      if (event !== 'tool-output-delta') open.delete(id)
    }
  }
  equal('the tool calls without an end', [...open], [])
  return ids
}
