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

export interface Writing {
  /** The messages that the client has, or receives, before the first item. */
  readonly before: readonly Message[]
  readonly state: StateWriter
  /** Whether the client receives subagent events. */
  readonly subagents: boolean
}

/** Writes the items of an answer as events for one client. */
export interface Writer {
  write(item: AnswerItem): readonly AgUiEvent[]
  /** Closes everything that is open before the client's run ends. Subagents may continue after a question. */
  close(isAsking: boolean): readonly AgUiEvent[]
  /** The thread's messages. */
  tell(messages: readonly Message[]): readonly AgUiEvent[]
  /** The tokens used, by model. */
  usage(): readonly object[]
}

/** Something that is being streamed: text, reasoning or a call. */
interface Open {
  readonly start: readonly AgUiEvent[]
  readonly end: readonly AgUiEvent[]
  readonly piece: (delta: string) => AgUiEvent
  said: string
}

type Owner = string | null

/**
 * A client checks that everything starts, continues and ends in this order, and that nothing starts twice. A
 * call that it already has is not sent again, because it would append the arguments a second time.
 */
export function createWriter({ before, state, subagents }: Writing): Writer {
  const known = new Set(before.flatMap(({ content }) => content.flatMap((block) => callIdOf(block) ?? [])))
  const answered = new Set(before.flatMap(({ toolCallId }) => toolCallId ?? []))
  /** The agent's history so far, for a client that must drop part of it. */
  let kept = before
  const open = new Map<string, Open>()
  /** The reasoning blocks of the messages that are being streamed. */
  const thoughts = new Map<string, number[]>()
  /** The names of open steps by namespace. No two open steps have the same name. */
  const steps = new Map<string, string>()
  /** The subagent runs by call. Each run has its own id, even if a subagent runs again. */
  const runs = new Map<string, { readonly id: string; readonly isOpen: boolean }>()
  const used = new Map<string, Record<string, string | number>>()

  const tagOf = (owner: Owner) => (owner === null ? {} : { subagentRunId: runs.get(owner)?.id ?? owner })

  const begin = (key: string, thing: Omit<Open, 'said'>): readonly AgUiEvent[] => {
    open.set(key, { ...thing, said: '' })
    return thing.start
  }

  const appendDelta = (key: string, delta: string): readonly AgUiEvent[] => {
    const thing = open.get(key)
    if (!thing || delta === '') return []
    thing.said += delta
    return [thing.piece(delta)]
  }

  const end = (key: string): readonly AgUiEvent[] => {
    const thing = open.get(key)
    open.delete(key)
    return thing?.end ?? []
  }

  function writeText(message: MessageRef, delta: string): readonly AgUiEvent[] {
    const key = `text ${keyOf(message)}`
    if (open.has(key) || delta === '') return appendDelta(key, delta)
    const about = { messageId: idOf(message), ...tagOf(message.owner) }
    const start = begin(key, {
      start: [{ type: 'TEXT_MESSAGE_START', role: 'assistant', ...about }],
      piece: (delta) => ({ type: 'TEXT_MESSAGE_CONTENT', ...about, delta }),
      end: [{ type: 'TEXT_MESSAGE_END', ...about }],
    })
    return [...start, ...appendDelta(key, delta)]
  }

  function writeThought(message: MessageRef, index: number, delta: string): readonly AgUiEvent[] {
    const key = thoughtKey(message, index)
    if (open.has(key) || delta === '') return appendDelta(key, delta)
    const at = thoughts.get(keyOf(message))?.indexOf(index) ?? 0
    const about = { messageId: reasoningId(idOf(message), at), ...tagOf(message.owner) }
    const start = begin(key, {
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
    return [...start, ...appendDelta(key, delta)]
  }

  function startCall({ id, name, messageId, owner }: CallRef): readonly AgUiEvent[] {
    if (known.has(id)) return []
    known.add(id)
    const tag = tagOf(owner)
    const about = { toolCallId: id, ...tag }
    const parent = messageId === null ? {} : { parentMessageId: idOf({ id: messageId, owner }) }
    return begin(`call ${id}`, {
      start: [{ type: 'TOOL_CALL_START', toolCallName: name, ...parent, ...about }],
      piece: (delta) => ({ type: 'TOOL_CALL_ARGS', ...about, delta }),
      end: [{ type: 'TOOL_CALL_END', ...about }],
    })
  }

  function answerCall({ id, owner }: CallRef, result: Pick<Message, 'content' | 'status'>) {
    const isRepeated = answered.has(id)
    answered.add(id)
    if (owner === null) {
      const others = isRepeated ? kept.filter(({ toolCallId }) => toolCallId !== id) : kept
      const all: readonly Message[] = [...others, { ...result, role: 'tool', toolCallId: id }]
      if (isRepeated) return tell(all)
      kept = all
    }
    if (isRepeated) return []
    const about = { messageId: resultId(id), toolCallId: id, ...tagOf(owner) }
    return [{ type: 'TOOL_CALL_RESULT', role: 'tool', content: resultText(result.content), ...about }]
  }

  /** Sends the complete history. It replaces what is being streamed, which then starts again. */
  function tell(history: readonly Message[]): readonly AgUiEvent[] {
    const things = [...open.values()]
    const messages = toClient(history)
    const isInOrder = keepsOrder(toClient(kept), messages)
    kept = history
    return [
      ...things.flatMap((thing) => thing.end),
      ...(isInOrder ? [] : [{ type: 'MESSAGES_SNAPSHOT', messages: [] }]),
      { type: 'MESSAGES_SNAPSHOT', messages },
      ...things.flatMap(({ start, piece, said }) => [...start, ...(said === '' ? [] : [piece(said)])]),
    ]
  }

  function forget(messages: readonly string[], calls: readonly string[]): readonly AgUiEvent[] {
    for (const id of calls) {
      known.delete(id)
      answered.delete(id)
    }
    return tell(
      kept.filter(({ id = '', toolCallId = '' }) => !messages.includes(id) && !calls.includes(toolCallId)),
    )
  }

  function writeStep({ name, namespace, state }: Extract<AnswerItem, { type: 'node' }>) {
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

  function startSubagent({ id, owner, messageId }: CallRef, name: string): readonly AgUiEvent[] {
    const before = runs.get(id)
    const run = { id: before ? `${before.id}+` : id, isOpen: true }
    runs.set(id, run)
    const parent = owner === null ? undefined : runs.get(owner)?.id
    const about = {
      parentToolCallId: id,
      parentSubagentRunId: parent,
      parentMessageId: messageId === null ? undefined : idOf({ id: messageId, owner }),
    }
    return [{ type: 'SUBAGENT_STARTED', subagentRunId: run.id, name, ...defined(about) }]
  }

  function endSubagent(callId: string, event: AgUiEvent): readonly AgUiEvent[] {
    const run = runs.get(callId)
    if (!run?.isOpen) return []
    runs.set(callId, { ...run, isOpen: false })
    return [{ ...event, subagentRunId: run.id }]
  }

  function endMessage(message: MessageRef, whole: Message, isCut: boolean): readonly AgUiEvent[] {
    if (message.owner === null && !isCut) kept = [...kept, { ...whole, id: message.id }]
    if (whole.usage) addUsage(used, whole, whole.usage)
    thoughts.delete(keyOf(message))
    return end(`text ${keyOf(message)}`)
  }

  function closeThings(): readonly AgUiEvent[] {
    return [...open.keys()].flatMap(end)
  }

  function write(item: AnswerItem): readonly AgUiEvent[] {
    switch (item.type) {
      case 'textDelta':
        return writeText(item.message, item.text)
      case 'reasoningStart': {
        const key = keyOf(item.message)
        thoughts.set(key, [...(thoughts.get(key) ?? []), item.index])
        return []
      }
      case 'reasoningDelta':
        return writeThought(item.message, item.index, item.text)
      case 'reasoningEnd':
        return end(thoughtKey(item.message, item.index))
      case 'messageEnd':
        return endMessage(item.message, item.whole, item.isCut)
      case 'callStart':
        return startCall(item.call)
      case 'callArgs':
        return appendDelta(`call ${item.call.id}`, item.args)
      case 'callEnd':
        return end(`call ${item.call.id}`)
      case 'callInvalid': {
        const content = [{ type: 'text', text: item.error } as const]
        const ended = end(`call ${item.call.id}`)
        return ended.length === 0 ? [] : [...ended, ...answerCall(item.call, { content, status: 'error' })]
      }
      case 'callResult': {
        const { call, message, text, status } = item
        return answerCall(call, message ?? { content: [{ type: 'text', text }], status })
      }
      case 'callOutput':
        return [custom('tool_output', { toolCallId: item.call.id, text: item.text }, item.call.owner)]
      case 'media':
        return [
          custom(
            'content_block',
            { messageId: idOf(item.message), block: encodeBlock(item.block) },
            item.message.owner,
          ),
        ]
      case 'other':
        return [
          custom('content_block', { messageId: idOf(item.message), block: item.value }, item.message.owner),
        ]
      case 'custom':
        return [custom(item.name ?? 'custom', item.payload ?? null, item.owner)]
      case 'node':
        return writeStep(item)
      case 'subagentStart':
        return startSubagent(item.call, item.name)
      case 'subagentEnd':
        return endSubagent(
          item.call.id,
          item.status === 'success'
            ? { type: 'SUBAGENT_FINISHED', outcome: { type: 'success' } }
            : { type: 'SUBAGENT_ERROR', message: 'The subagent has failed.' },
        )
      case 'state':
        return state.delta(item.values)
      case 'retract':
        return forget(item.messages, item.calls)
      case 'gap':
        return [...closeThings(), ...tell(messagesIn(item.values) ?? kept), ...state.snapshot(item.values)]
      default:
        return []
    }
  }

  const custom = (name: string, value: unknown, owner: Owner): AgUiEvent => ({
    type: 'CUSTOM',
    name,
    value,
    ...tagOf(owner),
  })

  return {
    write: (item) => (!subagents && isOfSubagent(item) ? [] : write(item)),
    close: (isAsking) => [
      ...closeThings(),
      ...[...runs.keys()]
        .reverse()
        .flatMap((callId) =>
          endSubagent(
            callId,
            isAsking
              ? { type: 'SUBAGENT_FINISHED', outcome: { type: 'suspended' } }
              : { type: 'SUBAGENT_ERROR', message: 'The subagent was stopped.' },
          ),
        ),
      ...[...steps.values()].map((stepName) => ({ type: 'STEP_FINISHED', stepName })),
    ],
    tell,
    usage: () => [...used.values()],
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
