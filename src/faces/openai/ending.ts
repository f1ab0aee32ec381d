import type { ClientTool } from '../../agents/model-request.ts'
import { decodeMessage, type MediaBlock, type Message, type Usage } from '../../messages/index.ts'
import { isSummary } from '../../messages/message.ts'
import { isCall } from '../../messages/unique-calls.ts'
import { createPendingCalls } from '../kit/client-tools.ts'
import type { AnswerDetail } from '../kit/reading/answer-item.ts'
import type { Question } from './questions.ts'

/** A call that the client must answer. */
export interface ClientCall {
  readonly id: string
  readonly name: string
  /** JSON text. */
  readonly arguments: string
}

export type OpenQuestion = Question & { readonly approvals: number }

/**
 * What both protocols report at the end of an answer. Calls are only sent at the end, because a client acts on
 * every call that it sees.
 */
export const createEnding = (tools: readonly ClientTool[]) => ({
  pending: createPendingCalls(tools),
  written: new Map<string, { readonly modelCallId: string; readonly name: string; args: string }>(),
  /** The agent's open questions. */
  questions: new Map<string, OpenQuestion>(),
  /** Calls with a result, by the model's id. Each step of a model may use it again. */
  resolved: new Set<string>(),
  /** Of the agent's own model calls, in order. */
  reasons: new Map<string, Message['finishReason']>(),
  /** Of all model calls. */
  used: [] as Usage[],
})

export type Ending = ReturnType<typeof createEnding>

export function pushEnding(ending: Ending, item: AnswerDetail): void {
  const { pending, written, reasons } = ending
  switch (item.type) {
    case 'callStart': {
      const { id, modelCallId = id, name } = item.call
      written.set(id, { modelCallId, name, args: '' })
      pending.push(item)
      return
    }
    case 'callArgs': {
      const call = written.get(item.call.id)
      if (call) call.args += item.args
      return
    }
    case 'callResult':
      pending.push(item)
      return
    case 'retract':
      pending.push(item)
      for (const id of item.messages) reasons.delete(id)
      return
    case 'question': {
      const { id, value, approvals = [] } = item
      const canDecide = approvals.every(
        ({ allowedDecisions: can }) => can.includes('approve') && can.includes('reject'),
      )
      ending.questions.set(id, { id, value, approvals: canDecide ? approvals.length : 0 })
      return
    }
    case 'messageEnd':
      if (item.whole.usage) ending.used.push(item.whole.usage)
      if (item.message.owner === null) reasons.set(item.message.id, item.whole.finishReason)
  }
}

/** Adds the next message of the state: a call that has a result there does not wait for one. */
export function learn({ resolved }: Ending, { role, toolCallId = '', content }: Message): void {
  if (role === 'tool') resolved.add(toolCallId)
  else for (const block of content) if (isCall(block)) resolved.delete(block.id ?? '')
}

/** The client's tool calls without a result. */
export const clientCalls = ({ pending, written, resolved }: Ending): readonly ClientCall[] =>
  pending.ids().flatMap((id) => {
    const { modelCallId, name, args } = written.get(id)!
    return resolved.has(modelCallId) ? [] : [{ id: modelCallId, name, arguments: args === '' ? '{}' : args }]
  })

/** The finish reason of the agent's own last model call. */
export const reasonOf = ({ reasons }: Ending): Message['finishReason'] => [...reasons.values()].at(-1)

export const seconds = (ms: number): number => Math.floor(ms / 1_000)

/** The tokens of a run's model calls. */
function totalsOf(used: readonly Usage[]) {
  const sum = (count: (usage: Usage) => number | undefined): number =>
    used.reduce((total, usage) => total + (count(usage) ?? 0), 0)
  return {
    input: sum(({ inputTokens }) => inputTokens),
    cached: sum(({ inputDetails }) => inputDetails?.cache_read),
    output: sum(({ outputTokens }) => outputTokens),
    reasoning: sum(({ outputDetails }) => outputDetails?.reasoning),
  }
}

export function responseUsage(used: readonly Usage[]) {
  const { input, cached, output, reasoning } = totalsOf(used)
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  }
}

export function chatUsage(used: readonly Usage[]) {
  const { input, cached, output, reasoning } = totalsOf(used)
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
}

/** Media as Markdown, because answers of both protocols are text. Undefined for a file without an address. */
export function markdownOf({ type, url, base64, mimeType, extras }: MediaBlock): string | undefined {
  const source = url ?? (base64 && `data:${mimeType ?? 'application/octet-stream'};base64,${base64}`)
  if (!source) return undefined
  const name = typeof extras?.filename === 'string' ? extras.filename.replace(/[[\]\\]/g, '\\$&') : type
  return type === 'image' ? `![${name}](${source})` : `[${name}](${source})`
}

/**
 * The messages that a run has added to a state: those after the last message of its input, until the next
 * user message. If the state lacks that message, or the run had no input, those after the last user message.
 */
export function* messagesOfRun(messages: readonly unknown[], after: string | null): Generator<Message> {
  const found = messages.findIndex((one) => Object(one).id === after)
  const begin = found >= 0 ? found : messages.findLastIndex((one) => Object(one).type === 'human')
  for (const raw of messages.slice(begin + 1)) {
    const message = decodeMessage(raw)
    if (message && isSummary(message)) continue
    if (message?.role === 'user') return
    if (message) yield message
  }
}
