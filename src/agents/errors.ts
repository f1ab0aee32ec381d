import { AgentwireError } from '../errors.ts'

/** The caller gave an agent values, a node or an answer it cannot take. The message names what and why. */
export class AgentInputError extends AgentwireError {
  static override readonly brand = 'AgentInputError'
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('invalid_argument', message, options)
  }
}

/** The message of anything that was thrown. */
export const textOfThrown = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown)
