import { isRecord } from '../messages/record.ts'
import { CUT_OFF } from './partial-message.ts'

/** The `data` of an event of the `messages` channel. */
export type MessageData = Readonly<Record<string, unknown>>

type Block = Record<string, unknown>

const NOTHING: readonly MessageData[] = []

interface BlockState {
  /** Its place in the message, of those that have started: 0, 1, 2, … */
  readonly index: number
  /** The block so far. Tool calls have their arguments as text. */
  readonly block: Block
  /** The content of the last finish, while nothing was added after it. */
  finished?: unknown
  /** How much of the arguments was sent. */
  sentArgs: number
}

/** A message that a node writes. */
interface MessageState {
  readonly id: unknown
  readonly role: unknown
  readonly name: unknown
  /** The id of the model call. */
  readonly runId: unknown
  isFinished: boolean
  /** By the indexes of the engine. */
  readonly blocks: Map<number, BlockState>
  open?: BlockState | undefined
}

/** A message of an assistant, as far as it was written. */
export interface WrittenMessage {
  readonly id: string
  readonly name?: string
  readonly text: string
  readonly isFinished: boolean
}

export interface MessageNormalizer {
  /** @param key Names the message among those that are written at the same time. */
  normalize(key: string, data: MessageData): Sent
  /** The messages of these keys that were written since `forgetWritten`. */
  written(keys: ReadonlySet<string>): readonly WrittenMessage[]
  forgetWritten(): void
  /** What ends a message that nobody goes on with, because the run was cancelled. Nothing where it has an end. */
  cut(key: string): readonly MessageData[]
}

/** The events to send in place of one, or undefined for the event as it is, which costs the many deltas nothing. */
type Sent = readonly MessageData[] | undefined

/**
 * Brings the message events of every release of LangGraph to those of the protocol, one model call after the other:
 * `message-start` has a role, one block is open at a time, the indexes of the blocks are 0, 1, 2, …, and deltas of a tool call are
 * `block-delta` with all arguments so far.
 *
 * The engine finishes all blocks at the end of their message, and may go back to an earlier one. Here a block that starts or goes on
 * finishes the open one, and a block that goes on starts again with its content so far.
 *
 * The engine has the indexes of the model, and a model may skip some: where it gives 0 to a text, a message that only calls a tool
 * begins with 1. LangGraph's client fails on such a message, and shows no more messages of its namespace.
 *
 * One normalizer serves one run.
 */
export function createMessageNormalizer(): MessageNormalizer {
  const messages = new Map<string, MessageState>()
  const begun: (readonly [key: string, message: MessageState])[] = []

  function normalize(key: string, data: MessageData): Sent {
    const { event } = data
    if (event === 'message-start') {
      const { id, role = 'ai', name, run_id: runId } = data
      const message = { id, role, name, runId, isFinished: false, blocks: new Map() }
      messages.set(key, message)
      begun.push([key, message])
      return data.role === undefined ? [{ ...data, role: 'ai' }] : undefined
    }
    const message = messages.get(key)
    if (!message) return undefined
    switch (event) {
      case 'content-block-start':
        return start(message, data)
      case 'content-block-delta':
        return append(message, data)
      case 'content-block-finish':
        return finish(message, data)
      case 'message-finish':
      case 'error':
        messages.delete(key)
        message.isFinished = true
        return event === 'message-finish' && message.open ? [...close(message, data), data] : undefined
      default:
        return undefined
    }
  }

  return {
    normalize,
    written: (keys) =>
      begun.filter(([key]) => keys.has(key)).flatMap(([, message]) => writtenMessage(message)),
    forgetWritten: () => void begun.splice(0),
    cut(key) {
      const message = messages.get(key)
      if (!message) return NOTHING
      messages.delete(key)
      const { runId: run_id } = message
      const call = run_id === undefined ? {} : { run_id }
      return [...close(message, call), { event: 'message-finish', responseMetadata: CUT_OFF, ...call }]
    },
  }
}

function writtenMessage({ id, role, name, isFinished, blocks }: MessageState): readonly WrittenMessage[] {
  if (role !== 'ai' || typeof id !== 'string') return []
  const text = [...blocks.values()].map(({ block }) => (block.type === 'text' ? block.text : '')).join('')
  return [{ id, text, isFinished, ...(typeof name === 'string' && { name }) }]
}

function start(message: MessageState, data: MessageData): Sent {
  if (!isRecord(data.content)) return undefined
  const before = close(message, data)
  const key = data.index as number
  const index = message.blocks.get(key)?.index ?? message.blocks.size
  message.open = { index, block: { ...data.content }, sentArgs: 0 }
  message.blocks.set(key, message.open)
  return [...before, { ...data, index }]
}

function append(message: MessageState, data: MessageData): Sent {
  const state = message.blocks.get(data.index as number)
  const { delta } = data
  if (!state || !isRecord(delta)) return undefined
  const before = state === message.open ? NOTHING : reopen(message, state, data)
  addTo(state.block, delta)
  if (delta.type !== 'tool-call-delta') return placed(before, state, data)
  const whole = wholeArgs(state, data)
  return whole ? [...before, whole] : before
}

function finish(message: MessageState, data: MessageData): Sent {
  const state = message.blocks.get(data.index as number)
  if (!state) return undefined
  const goesOn = state !== message.open
  if (goesOn && isEqual(state.finished, data.content)) return NOTHING
  const before = goesOn ? reopen(message, state, data) : NOTHING
  message.open = undefined
  state.finished = data.content
  return placed(before, state, data)
}

/** The events before one of a block, and that one with the index of its block. */
function placed(before: readonly MessageData[], { index }: BlockState, data: MessageData): Sent {
  if (before === NOTHING && index === data.index) return undefined
  return [...before, { ...data, index }]
}

/** Finishes the open block, with the fields that all events of its message have. */
function close(message: MessageState, { run_id }: MessageData): readonly MessageData[] {
  const { open } = message
  if (!open) return []
  message.open = undefined
  open.finished = finishedBlock(open.block)
  return [
    {
      event: 'content-block-finish',
      index: open.index,
      content: open.finished,
      ...(run_id !== undefined && { run_id }),
    },
  ]
}

function reopen(message: MessageState, state: BlockState, data: MessageData): readonly MessageData[] {
  const before = close(message, data)
  const { run_id } = data
  message.open = state
  return [
    ...before,
    {
      event: 'content-block-start',
      index: state.index,
      content: { ...state.block },
      ...(run_id !== undefined && { run_id }),
    },
  ]
}

function addTo(block: Block, delta: MessageData): void {
  switch (delta.type) {
    case 'text-delta':
      block.text = joined(block.text, delta.text)
      break
    case 'reasoning-delta': {
      const field = block.type === 'thinking' ? 'thinking' : 'reasoning'
      block[field] = joined(block[field], delta.reasoning)
      break
    }
    case 'data-delta':
      block.data = joined(block.data, delta.data)
      break
    case 'tool-call-delta':
      block.args = joined(block.args, delta.args)
      break
    case 'block-delta':
      Object.assign(block, delta.fields)
  }
}

const joined = (before: unknown, more: unknown): string => `${before ?? ''}${more ?? ''}`

/**
 * LangGraph 1.7 sends slices of the arguments, older releases and the protocol all of them. They are sent when they have grown by a
 * sixteenth, so that the bytes stay linear in their length.
 */
function wholeArgs(state: BlockState, data: MessageData): MessageData | undefined {
  const { type, id, name, args } = state.block
  const { length } = args as string
  if (length - state.sentArgs < state.sentArgs / 16) return undefined
  state.sentArgs = length
  const fields = { type, ...(id !== undefined && { id }), ...(name !== undefined && { name }), args }
  return { ...data, index: state.index, delta: { type: 'block-delta', fields } }
}

/** A block as the engine finishes it: the arguments of a tool call are parsed. */
function finishedBlock(block: Block): Block {
  if (block.type !== 'tool_call_chunk') return { ...block }
  const { id, name, args } = block
  const call = { ...(id !== undefined && { id }), ...(name !== undefined && { name }) }
  try {
    return { type: 'tool_call', ...call, args: JSON.parse((args as string) || '{}') }
  } catch {
    const error = 'Failed to parse tool call arguments as JSON'
    return { type: 'invalid_tool_call', ...call, args, error }
  }
}

function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual((a as Block)[key], (b as Block)[key]))
  )
}
