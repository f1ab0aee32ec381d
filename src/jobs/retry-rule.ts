import { DeliveryError } from '../egress/errors.ts'
import { backoff } from '../time.ts'

/** When a job that failed is tried again, and when no more. All times are in milliseconds. */
export interface RetryRule {
  /**
   * The delay after the first failure. It doubles with each further one, less a random part: see `backoff`.
   */
  readonly firstMs: number
  /** The longest delay, also of one that a receiver asks for. */
  readonly maxMs: number
  /** How long a job may fail without a `save` before it is given up. */
  readonly giveUpAfterMs: number
}

/** The rule of webhooks, pushes and crons. docs/operating.md describes it. */
export const RETRY_FOR_A_DAY: RetryRule = { firstMs: 1_000, maxMs: 300_000, giveUpAfterMs: 86_400_000 }

/**
 * The delay before the next attempt at a job. Undefined when there is none, because it failed for too long or
 * its receiver refuses it for good.
 *
 * @param failures How often it had failed before.
 *
 * @param failingMs How long ago it first did.
 */
export function nextDelay(
  { firstMs, maxMs, giveUpAfterMs }: RetryRule,
  {
    error,
    failures,
    failingMs,
  }: { readonly error: unknown; readonly failures: number; readonly failingMs: number },
): number | undefined {
  const refusal = error instanceof DeliveryError ? error : undefined
  if (failingMs >= giveUpAfterMs || refusal?.retryable === false) return undefined
  return Math.min(Math.max(backoff(failures, firstMs, maxMs), refusal?.retryAfterMs ?? 0), maxMs)
}
