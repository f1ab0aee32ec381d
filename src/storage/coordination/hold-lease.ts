import { jitter, startTimer, within } from '../../core/time.ts'
import { FencedError } from '../errors.ts'

export interface LeaseOptions {
  readonly ttlMs: number
  /**
   * Extends the lease to `ttlMs` from now. Throws `FencedError` if it was lost. Its errors are not reported.
   */
  readonly renew: () => Promise<unknown>
  /** When the lease was claimed, by `performance.now()`. Default: now. */
  readonly claimedAt?: number
  /**
   * Whether `renew` retakes an expired lease. If true, only `FencedError` shows that it was lost. Otherwise
   * it also counts as lost if a renewal fails after the lease may have expired, or gets no response within
   * `ttlMs`.
   */
  readonly retakesExpired?: boolean
}

export type HeldLease = ReturnType<typeof holdLease>

/** Holds a lease and renews it about three times per `ttlMs`. It does not use the wall clock. */
export function holdLease({ ttlMs, renew, ...options }: LeaseOptions) {
  const { claimedAt = performance.now(), retakesExpired = false } = options
  const ended = new AbortController()
  let isLost = false
  let heldUntil = claimedAt + ttlMs
  let last: Promise<unknown> = Promise.resolve()
  let timer: ReturnType<typeof setTimeout> | undefined

  function end(): void {
    clearTimeout(timer)
    ended.abort(new FencedError('The lease is no longer held.'))
  }

  function lose(): void {
    isLost ||= !ended.signal.aborted
    end()
  }

  async function guard<T>(commit: () => Promise<T>): Promise<T> {
    ended.signal.throwIfAborted()
    try {
      return await commit()
    } catch (error) {
      if (error instanceof FencedError) lose()
      throw error
    }
  }

  function renewLater(): void {
    clearTimeout(timer)
    if (!ended.signal.aborted) timer = startTimer(jitter(ttlMs / 3), () => extend(renew).catch(() => {}))
  }

  async function extendNow<T>(commit: () => Promise<T>): Promise<T> {
    const askedAt = performance.now()
    const mayBeExpired = retakesExpired ? renewLater : lose
    const unanswered = setTimeout(mayBeExpired, ttlMs)
    try {
      const result = await guard(commit)
      heldUntil = askedAt + ttlMs
      return result
    } catch (error) {
      // While the store is unavailable, another process may take the lease as soon as it expires.
      if (performance.now() >= heldUntil) mayBeExpired()
      throw error
    } finally {
      clearTimeout(unanswered)
      renewLater()
    }
  }

  function extend<T>(commit: () => Promise<T>): Promise<T> {
    const extended = last.then(() => extendNow(commit))
    last = within(ttlMs, extended).catch(() => {})
    return extended
  }

  renewLater()
  return {
    /** Aborts with a `FencedError` when the lease is lost or no longer held. */
    signal: ended.signal,
    /** Whether the lease was lost, so that another process may have it. */
    get isLost(): boolean {
      return isLost
    },
    /**
     * Runs a commit that the lease guards. Its `FencedError` shows that the lease was lost; later commits do
     * not run.
     */
    guard,
    /** Like `guard`, for a commit that renews the lease. Such commits run one at a time. */
    extend,
    lose,
    /** Stops renewing the lease, without releasing it. */
    end,
  }
}
