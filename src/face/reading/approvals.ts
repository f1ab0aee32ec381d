import { isRecord, itemsOf, sameJson } from '../../messages/record.ts'

/** An action that a question asks to decide on, as LangChain's human-in-the-loop middleware has it. */
export interface Approval {
  /** Its place among the decisions of the answer. */
  readonly index: number
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly description: string | undefined
  /** Of `approve`, `edit`, `reject` and others that the middleware takes. */
  readonly allowedDecisions: readonly string[]
  /** The open call of this name and these arguments. Undefined where there is none. */
  readonly callId: string | undefined
}

/** A call that waits, among which the one of an action is found. */
export interface WaitingCall {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

/** What the middleware takes where the question does not say. */
const DECISIONS: readonly string[] = ['approve', 'edit', 'reject']

/**
 * The actions that a question asks to decide on: `{ actionRequests: [{ name, args, description? }], reviewConfigs?: [{ actionName,
 * allowedDecisions }] }`. Undefined for any other question. Of equal calls, the first is that of the first equal action.
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
