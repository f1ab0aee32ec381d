import { fieldOf, isObject, textOf } from './json.ts'

/** One call that waits for approval. */
export interface ActionRequest {
  readonly name: string
  readonly args: unknown
}

/**
 * The calls that an interrupt of LangChain's human-in-the-loop middleware asks about, or undefined for any other.
 * JavaScript spells them `actionRequests`, Python `action_requests`.
 */
export function actionsOf(value: unknown): readonly ActionRequest[] | undefined {
  const requests = fieldOf(value, 'actionRequests') ?? fieldOf(value, 'action_requests')
  if (!Array.isArray(requests) || requests.length === 0 || !requests.every(isObject)) return undefined
  return requests.map((request) => ({
    name: textOf(request.name) ?? textOf(request.action) ?? 'action',
    args: request.args ?? request.arguments ?? {},
  }))
}

/** The answer that lets every call go on. */
export const approveAll = (actions: readonly ActionRequest[]) => ({
  decisions: actions.map(() => ({ type: 'approve' })),
})

/** The answer that rejects every call. */
export const rejectAll = (actions: readonly ActionRequest[], message: string) => ({
  decisions: actions.map(() => ({ type: 'reject', ...(message !== '' && { message }) })),
})

/** The answer with other arguments, to be changed by hand. Its key is spelled as in the question. */
export const editAll = (actions: readonly ActionRequest[], value: unknown) => ({
  decisions: actions.map(({ name, args }) => ({
    type: 'edit',
    [fieldOf(value, 'actionRequests') ? 'editedAction' : 'edited_action']: { name, args },
  })),
})
