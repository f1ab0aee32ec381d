import { answerOf } from './answers.ts'
import type { Arguments } from './argument-fields.ts'

/** The possible decisions about a waiting call. */
export type DecisionKind = 'approve' | 'edit' | 'reject'

/** A tool call that waits for a decision. */
export interface Action {
  readonly name: string
  readonly args: Arguments
  readonly allowed: readonly DecisionKind[]
}

/** A decision in the format of LangChain's middleware. */
export type Decision =
  | { readonly type: 'approve' }
  | { readonly type: 'edit'; readonly editedAction: Pick<Action, 'name' | 'args'> }
  | { readonly type: 'reject'; readonly message: string }

/** What the agent reads for a rejected call. The conversation recognizes a rejection by its prefix. */
export function rejection(reason: string): Decision {
  const words = reason.trim()
  return { type: 'reject', message: `The user rejected this call${words === '' ? '.' : `: ${words}`}` }
}

/** What the page asks the user: to decide about a call, to answer with text, or to answer with other data. */
export type Question = {
  /** Unique among all questions of the page. */
  readonly key: string
  readonly interruptId: string
} & (
  | { readonly kind: 'action'; readonly action: Action }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'data'; readonly value: unknown }
)

export interface Interrupt {
  readonly id?: string | undefined
  readonly value?: unknown
}

/** One question for each call of an interrupt, or one for an interrupt without calls. */
export function questionsOf({ id = '', value }: Interrupt): readonly Question[] {
  const actions = actionsOf(value)
  if (actions !== undefined)
    return actions.map((action, at) => ({ key: `${id} ${at}`, interruptId: id, kind: 'action', action }))
  const text = typeof value === 'string' ? value : recordOf(value).question
  const question = { key: id, interruptId: id }
  return [
    typeof text === 'string' ? { ...question, kind: 'text', text } : { ...question, kind: 'data', value },
  ]
}

/**
 * The answers to all questions by interrupt, in the agents' format: a list of decisions, or the answer
 * itself.
 */
export function responsesOf(
  questions: readonly Question[],
  answers: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const responses: Record<string, unknown> = {}
  for (const { kind, key, interruptId } of questions) {
    if (kind !== 'action') responses[interruptId] = answers[key]
    else {
      const { decisions = [] } = recordOf(responses[interruptId])
      responses[interruptId] = { decisions: [...(decisions as unknown[]), answers[key]] }
    }
  }
  return responses
}

const YES = /^(y|yes|yep|yeah|ok|okay|sure|approved?|confirm(ed)?|allow(ed)?|go( ahead)?|do it)[.!]*$/i
const NO = /^(n|no|nope|don'?t|reject(ed)?|den(y|ied)|cancel|stop)[.!]*$/i

/**
 * What a text means that the user sends instead of using the form of a question: the answer, a consent, or a
 * rejection with its reason. Undefined if it cannot be one: several questions wait, or the agent does not
 * allow it.
 */
export function spokenAnswer(
  interrupts: readonly Interrupt[],
  text: string,
): Record<string, unknown> | undefined {
  const questions = interrupts.flatMap(questionsOf)
  const [question] = questions
  const words = text.trim()
  if (!question || questions.length > 1 || words === '') return undefined
  const answer = question.kind === 'action' ? decisionIn(words, question.action) : spokenData(question, words)
  return answer === undefined ? undefined : responsesOf(questions, { [question.key]: answer })
}

function decisionIn(words: string, { allowed }: Action): Decision | undefined {
  if (YES.test(words)) return allowed.includes('approve') ? { type: 'approve' } : undefined
  if (!allowed.includes('reject')) return undefined
  return rejection(NO.test(words) ? '' : words)
}

function spokenData({ kind }: Question, words: string): unknown {
  if (kind === 'text') return words
  const { answer, fault } = answerOf(words)
  return fault === undefined ? answer : undefined
}

/** The calls in LangChain's human-in-the-loop payload. Its Python form has snake_case names. */
function actionsOf(value: unknown): readonly Action[] | undefined {
  const request = recordOf(value)
  const actions = request.actionRequests ?? request.action_requests
  if (!Array.isArray(actions) || actions.length === 0) return undefined
  const configs = [request.reviewConfigs ?? request.review_configs ?? []].flat().map(recordOf)
  return actions.map(recordOf).map((action) => {
    const name = String(action.name ?? action.action_name ?? '')
    const config = configs.find((one) => (one.actionName ?? one.action_name) === name)
    return { name, args: recordOf(action.args), allowed: allowedBy(config) }
  })
}

const KINDS: readonly DecisionKind[] = ['approve', 'edit', 'reject']

function allowedBy(config: Record<string, unknown> | undefined): readonly DecisionKind[] {
  const allowed = config?.allowedDecisions ?? config?.allowed_decisions
  return Array.isArray(allowed) ? KINDS.filter((kind) => allowed.includes(kind)) : KINDS
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}
}
