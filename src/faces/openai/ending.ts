import type { ClientTool } from '../../agents/model-request.ts'
import type { MediaBlock, Message, Usage } from '../../messages/index.ts'
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

/** The state of a run at its end. */
export interface Ending {
  push(item: AnswerDetail): void
  /** Adds the next message of the state: a call that has a result there does not wait for one. */
  learn(message: Message): void
  /** The client's tool calls without a result. */
  calls(): readonly ClientCall[]
  /** The agent's open questions. */
  readonly questions: readonly (Question & { readonly approvals: number })[]
  readonly spent: TokenTotals | undefined
  /** The finish reason of the agent's own last model call. */
  readonly reason: Message['finishReason']
}

/**
 * Collects what both protocols report at the end of an answer. Calls are only sent at the end, because a
 * client acts on every call that it sees.
 */
export function createEnding(tools: readonly ClientTool[]): Ending {
  const pending = createPendingCalls(tools)
  const written = new Map<string, { readonly modelCallId: string; readonly name: string; args: string }>()
  const questions = new Map<string, Question & { readonly approvals: number }>()
  /** By the model's id. Each step of a model may use it again. */
  const resolved = new Set<string>()
  let spent: TokenTotals | undefined
  /** Of the agent's own model calls, in order. */
  const reasons = new Map<string, Message['finishReason']>()
  return {
    push(item) {
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
          questions.set(id, { id, value, approvals: canDecide ? approvals.length : 0 })
          return
        }
        case 'messageEnd':
          spent = plus(spent, item.whole.usage)
          if (item.message.owner === null) reasons.set(item.message.id, item.whole.finishReason)
      }
    },
    learn({ role, toolCallId = '', content }) {
      if (role === 'tool') resolved.add(toolCallId)
      else for (const block of content) if (isCall(block)) resolved.delete(block.id ?? '')
    },
    calls: () =>
      pending.ids().flatMap((id) => {
        const { modelCallId, name, args } = written.get(id)!
        return resolved.has(modelCallId)
          ? []
          : [{ id: modelCallId, name, arguments: args === '' ? '{}' : args }]
      }),
    get questions() {
      return [...questions.values()]
    },
    get spent() {
      return spent
    },
    get reason() {
      return [...reasons.values()].at(-1)
    },
  }
}

/** The tokens of a run's model calls. */
interface TokenTotals {
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly reasoning: number
}

const plus = (spent: TokenTotals | undefined, usage: Usage | undefined): TokenTotals | undefined =>
  usage
    ? {
        input: (spent?.input ?? 0) + usage.inputTokens,
        cached: (spent?.cached ?? 0) + (usage.inputDetails?.cache_read ?? 0),
        output: (spent?.output ?? 0) + usage.outputTokens,
        reasoning: (spent?.reasoning ?? 0) + (usage.outputDetails?.reasoning ?? 0),
      }
    : spent

export const responseUsage = ({ input, cached, output, reasoning }: TokenTotals) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
})

export const chatUsage = ({ input, cached, output, reasoning }: TokenTotals) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
  completion_tokens_details: { reasoning_tokens: reasoning },
})

/** Media as Markdown, because answers of both protocols are text. Undefined for a file without an address. */
export function markdownOf({ type, url, base64, mimeType, extras }: MediaBlock): string | undefined {
  const source = url ?? (base64 && `data:${mimeType ?? 'application/octet-stream'};base64,${base64}`)
  if (!source) return undefined
  const name = typeof extras?.filename === 'string' ? extras.filename.replace(/[[\]\\]/g, '\\$&') : type
  return type === 'image' ? `![${name}](${source})` : `[${name}](${source})`
}
