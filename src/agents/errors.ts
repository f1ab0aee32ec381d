import { AgentwireError } from '../errors.ts'

/** The caller gave an agent values, a node or an answer it cannot take. The message names what and why. */
export class AgentInputError extends AgentwireError {
  static override readonly brand: string = 'AgentInputError'
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('invalid_argument', message, options)
  }
}

/** An agent's own code, such as a reducer, refused the values. The message is its own, and may hold what it knows. */
export class AgentRefusal extends AgentInputError {
  static override readonly brand = 'AgentRefusal'
}

/** The message of anything that was thrown. */
export const textOfThrown = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown)
