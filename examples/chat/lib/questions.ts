/** What a person may decide about a call that waits. */
export type DecisionKind = 'approve' | 'edit' | 'reject'

/** A call of a tool that waits for a decision. */
export interface Action {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly allowed: readonly DecisionKind[]
}

/** A decision as LangChain's middleware expects it. */
export type Decision =
  | { readonly type: 'approve' }
  | { readonly type: 'edit'; readonly editedAction: Pick<Action, 'name' | 'args'> }
  | { readonly type: 'reject'; readonly message?: string }

/** An interrupt as the page asks it: calls to decide about, a question in words, or data of another form. */
export type Question =
  | { readonly kind: 'actions'; readonly id: string; readonly actions: readonly Action[] }
  | { readonly kind: 'text'; readonly id: string; readonly text: string }
  | { readonly kind: 'data'; readonly id: string; readonly value: unknown }

interface Interrupt {
  readonly id?: string | undefined
  readonly value?: unknown
}

export function questionOf({ id = '', value }: Interrupt): Question {
  const actions = actionsOf(value)
  if (actions !== undefined) return { kind: 'actions', id, actions }
  const text = typeof value === 'string' ? value : recordOf(value).question
  return typeof text === 'string' ? { kind: 'text', id, text } : { kind: 'data', id, value }
}

/** The calls of LangChain's human-in-the-loop payload. Its Python form has names in snake_case. */
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
