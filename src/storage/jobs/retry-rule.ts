import { DeliveryError } from '../../core/egress/errors.ts'
import { backoff } from '../../core/time.ts'

/** When a failed job is retried, and when it is given up. All times are in milliseconds. */
export interface RetryRule {
  /**
   * The delay after the first failure. It doubles with each further failure, minus a random part: see
   * `backoff`.
   */
  readonly firstMs: number
  /** The maximum delay, including a delay that a receiver requests. */
  readonly maxMs: number
  /** How long a job may fail without a `save` before it is given up. */
  readonly giveUpAfterMs: number
}

/** The rule of webhooks, pushes and crons. docs/operating.md describes it. */
export const RETRY_FOR_A_DAY: RetryRule = { firstMs: 1_000, maxMs: 300_000, giveUpAfterMs: 86_400_000 }

/**
 * The delay before the next attempt of a job. Undefined if there is none, because it failed for too long or
 * its receiver rejected it permanently.
 *
 * @param failures The number of earlier failures.
 *
 * @param failingMs The time since the first failure.
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
