import { isRecord, itemsOf, sameJson } from '../../../messages/record.ts'

/** An action that a question asks to approve, in the form of LangChain's human-in-the-loop middleware. */
export interface Approval {
  /** The position among the decisions of the response. */
  readonly index: number
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly description: string | undefined
  /** The decisions that the middleware accepts, such as `approve`, `edit` and `reject`. */
  readonly allowedDecisions: readonly string[]
  /** The open call with this name and arguments. Undefined if there is none. */
  readonly callId: string | undefined
}

/** A call without a result, which may match an action. */
export interface WaitingCall {
  readonly id: string
  /** Its id in the state. */
  readonly modelCallId?: string
  readonly name: string
  readonly input: unknown
}

/** What the middleware accepts if the question does not say. */
const DECISIONS: readonly string[] = ['approve', 'edit', 'reject']

/**
 * The actions that a question asks to approve:
 * `{ actionRequests: [{ name, args, description? }], reviewConfigs?: [{ actionName, allowedDecisions }] }`.
 * Undefined for any other question. Equal calls are matched to equal actions in order.
 */
export function approvalsOf(
  value: unknown,
  calls: Iterable<WaitingCall> = [],
): readonly Approval[] | undefined {
  if (!isRecord(value)) return undefined
  const requests = itemsOf(value.actionRequests)
  if (requests.length === 0 || !requests.every(isAction)) return undefined
  const configs = itemsOf(value.reviewConfigs).filter(isRecord)
  const waiting = [...calls]
  return requests.map(({ name, args = {}, description }, index) => {
    const at = waiting.findIndex((call) => call.name === name && sameJson(call.input, args))
    const [call] = at < 0 ? [] : waiting.splice(at, 1)
    const config = configs.find(({ actionName }) => actionName === name)
    const allowed = itemsOf(config?.allowedDecisions).filter((one) => typeof one === 'string')
    return {
      index,
      name,
      args,
      description: typeof description === 'string' ? description : undefined,
      allowedDecisions: allowed.length > 0 ? allowed : DECISIONS,
      callId: call?.id,
    }
  })
}

interface Action {
  readonly name: string
  readonly args?: Readonly<Record<string, unknown>>
  readonly description?: unknown
}

const isAction = (value: unknown): value is Action =>
  isRecord(value) && typeof value.name === 'string' && (value.args === undefined || isRecord(value.args))

const PROMPTS = ['question', 'prompt', 'message', 'text', 'description']

/** The question of an interrupt as text: one of its text fields, otherwise its JSON. */
export function promptText(value: unknown): string {
  if (typeof value === 'string') return value
  const fields = Object(value) as Readonly<Record<string, unknown>>
  const words = PROMPTS.map((key) => fields[key]).find((text) => typeof text === 'string' && text !== '')
  return typeof words === 'string' ? words : JSON.stringify(value ?? null)
}
