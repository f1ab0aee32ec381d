import { AuditError, equal, hold } from '../check.ts'
import { at, type WireEvent } from './events.ts'

/** A message as the events of the `messages` channel tell it. */
export interface ToldMessage {
  readonly id: string
  /** Of its text blocks as their deltas add up, and as their ends repeat it. */
  readonly streamed: string
  readonly finished: string
}

interface Draft {
  readonly id: string
  /** The text of each block that has started and not ended, by its index. */
  readonly open: Map<unknown, string>
  readonly indices: unknown[]
  streamed: string
  finished: string
}

/**
 * Checks that messages, keyed by namespace and node, start and end once, as do their blocks, each with its
 * own index. Blocks may overlap, as in some engines. Returns the messages that have ended.
 */
export function readMessages(events: readonly WireEvent[]): readonly ToldMessage[] {
  const drafts = new Map<string, Draft>()
  const told: ToldMessage[] = []
  for (const { method, namespace, node, data } of events) {
    if (method !== 'messages') continue
    const event = at(data, 'event')
    const place = `${namespace.join('|')} ${node}`
    const draft = drafts.get(place)
    if (event === 'usage' || event === 'provider') continue
    if (event === 'message-start') {
      hold(
        'the messages of a node',
        draft === undefined,
        `the end of ${draft?.id} before the next start`,
        data,
      )
      drafts.set(place, {
        id: String(at(data, 'id')),
        open: new Map(),
        indices: [],
        streamed: '',
        finished: '',
      })
    } else if (!draft) throw new AuditError('the messages of a node', 'message-start first', data)
    else if (event === 'message-finish' || event === 'error') {
      hold(`the blocks of ${draft.id}`, event === 'error' || draft.open.size === 0, 'all finished', [
        ...draft.open.keys(),
      ])
      drafts.delete(place)
      if (event === 'message-finish') told.push(draft)
    } else readBlock(draft, event, data)
  }
  equal(
    'the messages without an end',
    [...drafts.values()].map(({ id }) => id),
    [],
  )
  return told
}

function readBlock(draft: Draft, event: unknown, data: unknown): void {
  const { id, open, indices } = draft
  const index = at(data, 'index')
  const text = at(data, event === 'content-block-delta' ? 'delta' : 'content', 'text')
  if (event === 'content-block-start') {
    hold(`the blocks of ${id}`, !indices.includes(index), 'each index once', data)
    indices.push(index)
    open.set(index, typeof text === 'string' ? text : '')
    return
  }
  const before = open.get(index)
  hold(`the blocks of ${id}`, before !== undefined, 'a start before, and no end', data)
  if (event === 'content-block-delta') {
    if (typeof text === 'string') open.set(index, before + text)
    return
  }
  equal(`the event of ${id}`, event, 'content-block-finish')
  open.delete(index)
  if (at(data, 'content', 'type') !== 'text') return
  draft.streamed += before
  draft.finished += String(text)
}

/** Checks that each tool call starts once, ends once, and says nothing before or after. Gives their ids. */
export function readToolCalls(events: readonly WireEvent[]): readonly string[] {
  const open = new Set<string>()
  const ids: string[] = []
  for (const { method, data } of events) {
    if (method !== 'tools') continue
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
