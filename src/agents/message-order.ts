import { defined, type Fields, isRecord, sameJson } from '../messages/record.ts'
import type { AgentEvent } from '../messages/thread-events/index.ts'
import { appendDelta } from '../messages/wire/decode-events.ts'
import { CUT_OFF } from './open-calls.ts'

type Block = Record<string, unknown>
type Position = Pick<AgentEvent, 'namespace' | 'node'>

const NOTHING: readonly Fields[] = []

interface BlockState {
  /** The position among the message's started blocks: 0, 1, 2, … */
  readonly index: number
  /** The block so far. Tool calls have their arguments as text. */
  readonly block: Block
  /** The content of the last finish, unless something was added after it. */
  finished?: unknown
  /** The length of the arguments that were sent. */
  sentArgs: number
}

/** A message that a node writes. */
interface MessageState {
  readonly at: Position
  readonly start: Fields
  isFinished: boolean
  /** By the engine's indexes. */
  readonly blocks: Map<number, BlockState>
  open?: BlockState | undefined
}

/** An assistant message, as far as it was written. */
export interface WrittenMessage {
  readonly at: Position
  readonly id: string
  readonly name?: string
  readonly text: string
  readonly isFinished: boolean
}

const ROOT: Position = { namespace: [] }

/**
 * Converts the message events of every LangGraph release to the protocol's form: `message-start` has a role,
 * one block is open at a time, blocks are numbered 0, 1, 2, …, and deltas of a tool call are `block-delta`
 * with all arguments so far. One normalizer serves one run.
 *
 * The engine finishes all blocks at the end of their message, and may return to an earlier one. Here, a block
 * that starts or continues finishes the open one, and a block that continues starts again with its content so
 * far.
 *
 * The engine uses the model's indexes, which may have gaps: if index 0 is reserved for text, a message that
 * only calls a tool begins with 1. LangGraph's client fails on such a message, and shows no more messages of
 * its namespace.
 */
export function createMessageNormalizer() {
  const messages = new Map<string, MessageState>()
  let begun: MessageState[] = []

  /**
   * The events to send in place of an event. Undefined means that the event is sent unchanged, which is free
   * for most deltas.
   *
   * @param key Distinguishes messages that are written at the same time.
   */
  function normalize(key: string, data: Fields, at = ROOT): readonly Fields[] | undefined {
    const { event } = data
    if (event === 'message-start') {
      const start = data.role === undefined ? { ...data, role: 'ai' } : data
      const message: MessageState = { at, start, isFinished: false, blocks: new Map() }
      messages.set(key, message)
      begun.push(message)
      return start === data ? undefined : [start]
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
    /** The messages that were written since `forgetWritten`. */
    written: () => begun.flatMap(writtenMessage),
    forgetWritten: () => void (begun = []),
    /** The events that end unfinished messages when the run is cancelled. */
    cut(): readonly { readonly at: Position; readonly data: Fields }[] {
      const open = [...messages.values()]
      messages.clear()
      return open.flatMap((message) => {
        const call = callOf(message.start)
        const end = { event: 'message-finish', responseMetadata: CUT_OFF, ...call }
        return [...close(message, call), end].map((data) => ({ at: message.at, data }))
      })
    },
  }
}

/** The id of the model call, which all events of its message have. */
const callOf = ({ run_id }: Fields): Fields => (run_id === undefined ? {} : { run_id })

function writtenMessage({ at, start, isFinished, blocks }: MessageState): readonly WrittenMessage[] {
  const { id, role, name } = start
  if (role !== 'ai' || typeof id !== 'string') return []
  const text = [...blocks.values()].map(({ block }) => (block.type === 'text' ? block.text : '')).join('')
  return [{ at, id, text, isFinished, ...(typeof name === 'string' && { name }) }]
}

function start(message: MessageState, data: Fields): readonly Fields[] | undefined {
  if (!isRecord(data.content)) return undefined
  const before = close(message, data)
  const key = data.index as number
  const index = message.blocks.get(key)?.index ?? message.blocks.size
  message.open = { index, block: { ...data.content }, sentArgs: 0 }
  message.blocks.set(key, message.open)
  return [...before, { ...data, index }]
}

function append(message: MessageState, data: Fields): readonly Fields[] | undefined {
  const state = message.blocks.get(data.index as number)
  const { delta } = data
  if (!state || !isRecord(delta)) return undefined
  const before = state === message.open ? NOTHING : reopen(message, state, data)
  appendDelta(state.block, delta)
  if (delta.type !== 'tool-call-delta') return placed(before, state, data)
  const whole = wholeArgs(state, data)
  return whole ? [...before, whole] : before
}

function finish(message: MessageState, data: Fields): readonly Fields[] | undefined {
  const state = message.blocks.get(data.index as number)
  if (!state) return undefined
  const goesOn = state !== message.open
  if (goesOn && sameJson(state.finished, data.content)) return NOTHING
  const before = goesOn ? reopen(message, state, data) : NOTHING
  message.open = undefined
  state.finished = data.content
  return placed(before, state, data)
}

/** The events before an event, followed by the event with its block's index. */
const placed = (
  before: readonly Fields[],
  { index }: BlockState,
  data: Fields,
): readonly Fields[] | undefined =>
  before === NOTHING && index === data.index ? undefined : [...before, { ...data, index }]

/** Finishes the open block. */
function close(message: MessageState, data: Fields): readonly Fields[] {
  const { open } = message
  if (!open) return NOTHING
  message.open = undefined
  open.finished = finishedBlock(open.block)
  return [{ event: 'content-block-finish', index: open.index, content: open.finished, ...callOf(data) }]
}

function reopen(message: MessageState, state: BlockState, data: Fields): readonly Fields[] {
  const before = close(message, data)
  message.open = state
  const { index, block } = state
  return [...before, { event: 'content-block-start', index, content: { ...block }, ...callOf(data) }]
}

/**
 * LangGraph 1.7 sends slices of the arguments; the protocol repeats them completely. They are sent each time
 * they have grown by a sixteenth, which keeps the total size linear.
 */
function wholeArgs(state: BlockState, data: Fields): Fields | undefined {
  const { type, id, name, args } = state.block
  const { length } = args as string
  if (length - state.sentArgs < state.sentArgs / 16) return undefined
  state.sentArgs = length
  const fields = { type, ...defined({ id, name }), args }
  return { ...data, index: state.index, delta: { type: 'block-delta', fields } }
}

/** A block as the engine finishes it: with the arguments of a tool call parsed. */
function finishedBlock(block: Block): Block {
  if (block.type !== 'tool_call_chunk') return { ...block }
  const { id, name, args } = block
  const call = defined({ id, name })
  try {
    return { type: 'tool_call', ...call, args: JSON.parse((args as string) || '{}') }
  } catch {
    const error = 'Failed to parse tool call arguments as JSON'
    return { type: 'invalid_tool_call', ...call, args, error }
  }
}
