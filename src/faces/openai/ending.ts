import type { ClientTool } from '../../agents/model-request.ts'
import type { Message } from '../../messages/index.ts'
import { isCall } from '../../messages/unique-calls.ts'
import { createPendingCalls } from '../kit/client-tools.ts'
import type { AnswerDetail } from '../kit/reading/answer-item.ts'
import type { Question } from './questions.ts'
import { plus, type TokenTotals } from './usage.ts'

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
