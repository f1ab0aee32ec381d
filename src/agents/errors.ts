import { AgentwireError } from '../core/errors.ts'

/** Values, a node or an answer that an agent cannot accept. The message says which and why. */
export class AgentInputError extends AgentwireError {
  static override readonly brand: string = 'AgentInputError'
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('invalid_argument', message, options)
  }
}

/** The agent's own code, such as a reducer, rejected the values. The message may be confidential. */
export class AgentRefusal extends AgentInputError {
  static override readonly brand = 'AgentRefusal'
}

/**
 * The agent declines its task. The run fails, and clients see the reason (its first 2,000 characters).
 * `onError` is not called, because this is not a defect. A function calls `reject`; a graph node throws it.
 */
export class AgentRejection extends AgentwireError {
  static override readonly brand = 'AgentRejection'
  constructor(reason: string, options?: { readonly cause?: unknown }) {
    super('rejected', reason || 'The agent declines the task.', options)
  }
}

/** Marks an error whose message is written for clients: they get it instead of an error id. */
export const FOR_CLIENTS: unique symbol = /* @__PURE__ */ Symbol.for('agentwire.for-clients')

/** The message for clients of an error or one of its causes. */
export const messageForClients = (error: unknown): string | undefined =>
  causesOf(error).find((cause) => FOR_CLIENTS in cause)?.message

/** The rejection in an error or its causes. */
export const rejectionOf = (error: unknown): AgentRejection | undefined =>
  causesOf(error).find((cause) => cause instanceof AgentRejection)

const MAX_CAUSES = 10

export function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = []
  for (let at = error; at instanceof Error && causes.length < MAX_CAUSES; at = at.cause) causes.push(at)
  return causes
}

export const textOfThrown = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown)
