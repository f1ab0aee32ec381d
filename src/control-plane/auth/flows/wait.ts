import { watchChanges } from '../../../storage/coordination/changes.ts'
import type { FlowRecord, TokenRecord } from '../records.ts'
import type { CallerContext, Waited } from '../service.ts'
import { FLOWS, load, TOKENS, userPartition } from '../stored.ts'
import { openToken } from '../tokens/tokens.ts'
import { isParty } from './complete.ts'
import { parseAuthId } from './state.ts'

/** Waits until a sign-in has ended, on any instance. */
export async function waitForFlow(
  context: CallerContext,
  authId: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Waited> {
  const { store, now, closing } = context
  const name = parseAuthId(authId)
  if (!name) return { status: 'not_found' }
  const partition = userPartition(name.userKey)
  const signals = signal ? [closing, signal] : [closing]
  // The monotonic clock of this process, because the wait is a duration.
  const deadline = performance.now() + timeoutMs
  const changes = watchChanges(store, partition)
  try {
    for (;;) {
      const found = await load<FlowRecord>(store, partition, FLOWS, name.flowId)
      if (!found || !isParty(found.record, context)) return { status: 'not_found' }
      const { status, tokenId, error, expiresAt } = found.record
      if (status === 'completed') {
        const token =
          tokenId === undefined ? undefined : await load<TokenRecord>(store, partition, TOKENS, tokenId)
        // Without a token, the token was deleted since.
        if (!token) return { status: 'not_found' }
        return { status, token: (await openToken(context, token.record)).accessToken }
      }
      if (status === 'failed') return { status: 'not_found', error }
      const left = Math.min(deadline - performance.now(), expiresAt - now())
      if (expiresAt <= now() || (left <= 0 && timeoutMs > 0)) return { status: 'timeout' }
      if (left <= 0 || signals.some(({ aborted }) => aborted)) return { status: 'pending' }
      await changes.next(left, ...signals)
    }
  } finally {
    changes.close()
  }
}
