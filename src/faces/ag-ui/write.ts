import { encodeBlock, type Message, type Usage } from '../../messages/index.ts'
import { defined } from '../../messages/record.ts'
import type { AnswerItem, CallRef, MessageRef } from '../kit/reading/answer-item.ts'
import {
  type AgUiMessage,
  callIdOf,
  messagesIn,
  reasoningId,
  resultId,
  resultText,
  toClient,
} from './messages.ts'
import type { AgUiEvent, StateWriter } from './state.ts'

/** Something that is being streamed: text, reasoning or a call. */
interface Open {
  readonly start: readonly AgUiEvent[]
  readonly end: readonly AgUiEvent[]
  readonly piece: (delta: string) => AgUiEvent
  said: string
}

type Events = readonly AgUiEvent[]

/**
 * What a client has received, and what is open there. `before`: the messages that it has, or receives, before the
 * first item. `subagents`: whether it receives subagent events.
 */
export const createWriter = (before: readonly Message[], state: StateWriter, subagents: boolean) => ({
  state,
  subagents,
  /** The agent's history so far, for a client that must drop part of it. */
  kept: before,
  calls: new Set(before.flatMap(({ content }) => content.flatMap((block) => callIdOf(block) ?? []))),
  answered: new Set(before.flatMap(({ toolCallId }) => toolCallId ?? [])),
  open: new Map<string, Open>(),
  /** The reasoning blocks of the messages that are being streamed. */
  thoughts: new Map<string, number[]>(),
  /** The names of open steps by namespace. No two open steps have the same name. */
  steps: new Map<string, string>(),
  /** The subagent runs by call. Each run has its own id, even if a subagent runs again. */
  runs: new Map<string, { readonly id: string; readonly isOpen: boolean }>(),
  /** The tokens used, by model. */
  used: new Map<string, Record<string, string | number>>(),
})

type Writer = ReturnType<typeof createWriter>

/**
 * The events of an answer's next item. A client checks that everything starts, continues and ends in this order,
 * and that nothing starts twice. A call that it already has is not sent again, because it would append the
 * arguments a second time.
 */
export function write(writer: Writer, item: AnswerItem): Events {
  if (!writer.subagents && isOfSubagent(item)) return []
  switch (item.type) {
    case 'textDelta':
      return writeText(writer, item.message, item.text)
    case 'reasoningStart': {
      const key = keyOf(item.message)
      writer.thoughts.set(key, [...(writer.thoughts.get(key) ?? []), item.index])
      return []
    }
    case 'reasoningDelta':
      return writeThought(writer, item.message, item.index, item.text)
    case 'reasoningEnd':
      return end(writer, thoughtKey(item.message, item.index))
    case 'messageEnd':
      return endMessage(writer, item.message, item.whole, item.isCut)
    case 'callStart':
      return startCall(writer, item.call)
    case 'callArgs':
      return appendDelta(writer, `call ${item.call.id}`, item.args)
    case 'callEnd':
      return end(writer, `call ${item.call.id}`)
    case 'callInvalid': {
      const content = [{ type: 'text', text: item.error } as const]
      const ended = end(writer, `call ${item.call.id}`)
      if (ended.length === 0) return []
      return [...ended, ...answerCall(writer, item.call, { content, status: 'error' })]
    }
    case 'callResult': {
      const { call, message, text, status } = item
      return answerCall(writer, call, message ?? { content: [{ type: 'text', text }], status })
    }
    case 'node':
      return writeStep(writer, item)
    case 'subagentStart':
      return startSubagent(writer, item.call, item.name)
    case 'subagentEnd':
      return endSubagent(writer, item.call.id, item.status === 'success' ? SUCCESS : failure('has failed'))
    case 'state':
      return writer.state.delta(item.values)
    case 'retract':
      return forget(writer, item.messages, item.calls)
    case 'gap':
      return [
        ...endOpen(writer),
        ...tell(writer, messagesIn(item.values) ?? writer.kept),
        ...writer.state.snapshot(item.values),
      ]
    default:
      return writeCustom(writer, item)
  }
}

/** Ends everything that is open before the client's run ends. Subagents may continue after a question. */
export function close(writer: Writer, isAsking: boolean): Events {
  const outcome = isAsking ? SUSPENDED : failure('was stopped')
  return [
    ...endOpen(writer),
    ...[...writer.runs.keys()].reverse().flatMap((callId) => endSubagent(writer, callId, outcome)),
    ...[...writer.steps.values()].map((stepName) => ({ type: 'STEP_FINISHED', stepName })),
  ]
}

const SUCCESS = { type: 'SUBAGENT_FINISHED', outcome: { type: 'success' } }
const SUSPENDED = { type: 'SUBAGENT_FINISHED', outcome: { type: 'suspended' } }
const failure = (how: string): AgUiEvent => ({ type: 'SUBAGENT_ERROR', message: `The subagent ${how}.` })

const tagOf = ({ runs }: Writer, owner: string | null) =>
  owner === null ? {} : { subagentRunId: runs.get(owner)?.id ?? owner }

function begin({ open }: Writer, key: string, thing: Omit<Open, 'said'>): Events {
  open.set(key, { ...thing, said: '' })
  return thing.start
}

function appendDelta({ open }: Writer, key: string, delta: string): Events {
  const thing = open.get(key)
  if (!thing || delta === '') return []
  thing.said += delta
  return [thing.piece(delta)]
}

function end({ open }: Writer, key: string): Events {
  const thing = open.get(key)
  open.delete(key)
  return thing?.end ?? []
}

const endOpen = (writer: Writer): Events => [...writer.open.keys()].flatMap((key) => end(writer, key))

function writeText(writer: Writer, message: MessageRef, delta: string): Events {
  const key = `text ${keyOf(message)}`
  if (writer.open.has(key) || delta === '') return appendDelta(writer, key, delta)
  const about = { messageId: idOf(message), ...tagOf(writer, message.owner) }
  const start = begin(writer, key, {
    start: [{ type: 'TEXT_MESSAGE_START', role: 'assistant', ...about }],
    piece: (delta) => ({ type: 'TEXT_MESSAGE_CONTENT', ...about, delta }),
    end: [{ type: 'TEXT_MESSAGE_END', ...about }],
  })
  return [...start, ...appendDelta(writer, key, delta)]
}

function writeThought(writer: Writer, message: MessageRef, index: number, delta: string): Events {
  const key = thoughtKey(message, index)
  if (writer.open.has(key) || delta === '') return appendDelta(writer, key, delta)
  const at = writer.thoughts.get(keyOf(message))?.indexOf(index) ?? 0
  const about = { messageId: reasoningId(idOf(message), at), ...tagOf(writer, message.owner) }
  const start = begin(writer, key, {
    start: [
      { type: 'REASONING_START', ...about },
      { type: 'REASONING_MESSAGE_START', role: 'reasoning', ...about },
    ],
    piece: (delta) => ({ type: 'REASONING_MESSAGE_CONTENT', ...about, delta }),
    end: [
      { type: 'REASONING_MESSAGE_END', ...about },
      { type: 'REASONING_END', ...about },
    ],
  })
  return [...start, ...appendDelta(writer, key, delta)]
}

function endMessage(writer: Writer, message: MessageRef, whole: Message, isCut: boolean): Events {
  if (message.owner === null && !isCut) writer.kept = [...writer.kept, { ...whole, id: message.id }]
  if (whole.usage) addUsage(writer.used, whole, whole.usage)
  writer.thoughts.delete(keyOf(message))
  return end(writer, `text ${keyOf(message)}`)
}

function startCall(writer: Writer, { id, name, messageId, owner }: CallRef): Events {
  if (writer.calls.has(id)) return []
  writer.calls.add(id)
  const about = { toolCallId: id, ...tagOf(writer, owner) }
  const parent = messageId === null ? {} : { parentMessageId: idOf({ id: messageId, owner }) }
  return begin(writer, `call ${id}`, {
    start: [{ type: 'TOOL_CALL_START', toolCallName: name, ...parent, ...about }],
    piece: (delta) => ({ type: 'TOOL_CALL_ARGS', ...about, delta }),
    end: [{ type: 'TOOL_CALL_END', ...about }],
  })
}

function answerCall(
  writer: Writer,
  { id, owner }: CallRef,
  result: Pick<Message, 'content' | 'status'>,
): Events {
  const { answered, kept } = writer
  const isRepeated = answered.has(id)
  answered.add(id)
  if (owner === null) {
    const others = isRepeated ? kept.filter(({ toolCallId }) => toolCallId !== id) : kept
    const all: readonly Message[] = [...others, { ...result, role: 'tool', toolCallId: id }]
    if (isRepeated) return tell(writer, all)
    writer.kept = all
  }
  if (isRepeated) return []
  const about = { messageId: resultId(id), toolCallId: id, ...tagOf(writer, owner) }
  return [{ type: 'TOOL_CALL_RESULT', role: 'tool', content: resultText(result.content), ...about }]
}

/** Sends the complete history. It replaces what is being streamed, which then starts again. */
export function tell(writer: Writer, history: readonly Message[]): Events {
  const things = [...writer.open.values()]
  const messages = toClient(history)
  const isInOrder = keepsOrder(toClient(writer.kept), messages)
  writer.kept = history
  return [
    ...things.flatMap((thing) => thing.end),
    ...(isInOrder ? [] : [{ type: 'MESSAGES_SNAPSHOT', messages: [] }]),
    { type: 'MESSAGES_SNAPSHOT', messages },
    ...things.flatMap(({ start, piece, said }) => [...start, ...(said === '' ? [] : [piece(said)])]),
  ]
}

function forget(writer: Writer, messages: readonly string[], calls: readonly string[]): Events {
  for (const id of calls) {
    writer.calls.delete(id)
    writer.answered.delete(id)
  }
  const isKept = ({ id = '', toolCallId = '' }: Message) =>
    !messages.includes(id) && !calls.includes(toolCallId)
  return tell(writer, writer.kept.filter(isKept))
}

function writeStep({ steps }: Writer, { name, namespace, state }: AnswerItem & { type: 'node' }): Events {
  const key = namespace.join('|')
  const stepName = steps.get(key)
  if (state !== 'started') {
    steps.delete(key)
    return stepName === undefined ? [] : [{ type: 'STEP_FINISHED', stepName }]
  }
  if (namespace.length > 1 || stepName !== undefined) return []
  const names = new Set(steps.values())
  let free = name
  for (let at = 2; names.has(free); at++) free = `${name} (${at})`
  steps.set(key, free)
  return [{ type: 'STEP_STARTED', stepName: free }]
}

function startSubagent({ runs }: Writer, { id, owner, messageId }: CallRef, name: string): Events {
  const before = runs.get(id)
  const run = { id: before ? `${before.id}+` : id, isOpen: true }
  runs.set(id, run)
  const about = {
    parentToolCallId: id,
    parentSubagentRunId: owner === null ? undefined : runs.get(owner)?.id,
    parentMessageId: messageId === null ? undefined : idOf({ id: messageId, owner }),
  }
  return [{ type: 'SUBAGENT_STARTED', subagentRunId: run.id, name, ...defined(about) }]
}

function endSubagent({ runs }: Writer, callId: string, event: AgUiEvent): Events {
  const run = runs.get(callId)
  if (!run?.isOpen) return []
  runs.set(callId, { ...run, isOpen: false })
  return [{ ...event, subagentRunId: run.id }]
}

/** What has no event of its own. */
function writeCustom(writer: Writer, item: AnswerItem): Events {
  const custom = (name: string, value: unknown, owner: string | null): Events => [
    { type: 'CUSTOM', name, value, ...tagOf(writer, owner) },
  ]
  switch (item.type) {
    case 'callOutput':
      return custom('tool_output', { toolCallId: item.call.id, text: item.text }, item.call.owner)
    case 'media':
    case 'other': {
      const block = item.type === 'media' ? encodeBlock(item.block) : item.value
      return custom('content_block', { messageId: idOf(item.message), block }, item.message.owner)
    }
    case 'custom':
      return custom(item.name ?? 'custom', item.payload ?? null, item.owner)
    default:
      return []
  }
}

/**
 * Whether a client that has `before` shows `next` in order. It appends the messages that it does not have.
 */
function keepsOrder(before: readonly AgUiMessage[], next: readonly AgUiMessage[]): boolean {
  const [had, wanted] = [before, next].map((messages) => new Set(messages.map(({ id }) => id)))
  const shown = [...[...had!].filter((id) => wanted!.has(id)), ...[...wanted!].filter((id) => !had!.has(id))]
  return [...wanted!].every((id, at) => id === shown[at])
}

/** The client-wide id of a message. A subagent's message may have the same id as one of the agent's. */
const idOf = ({ id, owner }: Pick<MessageRef, 'id' | 'owner'>): string =>
  owner === null ? id : `${owner}/${id}`

const keyOf = ({ owner, id }: MessageRef): string => `${owner ?? ''} ${id}`

const thoughtKey = (message: MessageRef, index: number): string => `thought ${keyOf(message)} ${index}`

function isOfSubagent(item: AnswerItem): boolean {
  if (item.type === 'subagentStart' || item.type === 'subagentEnd') return true
  if ('message' in item && item.message && 'owner' in item.message) return item.message.owner !== null
  if ('call' in item) return item.call.owner !== null
  return 'owner' in item && item.owner !== null
}

const COUNTS: readonly (readonly [name: string, of: (usage: Usage) => number | undefined])[] = [
  ['inputTokens', ({ inputTokens }) => inputTokens],
  ['outputTokens', ({ outputTokens }) => outputTokens],
  ['totalTokens', ({ totalTokens }) => totalTokens],
  ['reasoningTokens', ({ outputDetails }) => outputDetails?.reasoning],
  ['cachedInputTokens', ({ inputDetails }) => inputDetails?.cache_read],
  ['cacheWriteInputTokens', ({ inputDetails }) => inputDetails?.cache_creation],
]

function addUsage(
  all: Map<string, Record<string, string | number>>,
  { metadata = {} }: Message,
  usage: Usage,
): void {
  const { model_provider: provider, model_name: model } = metadata
  const key = JSON.stringify([provider, model])
  const sum = all.get(key) ?? {
    ...(typeof provider === 'string' && { provider }),
    ...(typeof model === 'string' && { model }),
  }
  for (const [name, of] of COUNTS) {
    const count = of(usage)
    if (count !== undefined) sum[name] = Number(sum[name] ?? 0) + count
  }
  all.set(key, sum)
}
