import { refusal } from '../../errors.ts'
import type { ChallengeMethod, ProviderRecord } from '../records.ts'

/** Throws 400 for what is no method. */
export function challengeMethodOf(text: string): ChallengeMethod {
  if (text === 'S256' || text === 'plain') return text
  throw refusal(400, "'code_challenge_method' must be 'S256' or 'plain'.")
}

/** Providers that name none are asked with S256. */
export const methodOf = ({ codeChallengeMethod = 'S256' }: ProviderRecord): ChallengeMethod =>
  codeChallengeMethod
