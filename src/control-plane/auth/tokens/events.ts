import { uuid7 } from '../../../core/ids.ts'
import type { Op } from '../../../storage/index.ts'
import type { TokenEventRecord, TokenEventType, TokenRecord } from '../records.ts'
import { EVENTS, put } from '../stored.ts'

/** How long events are kept, in milliseconds: 90 days. */
const KEPT_MS = 90 * 86_400_000

/** Details of an event. */
export interface EventDetails {
  readonly agentId?: string | null | undefined
  readonly reason?: string | undefined
  readonly detail?: string | undefined
}

/** The op that writes an event, for the commit of the change. */
export function eventOp(
  about: Pick<TokenRecord, 'providerId' | 'scopes'> & Partial<Pick<TokenRecord, 'accountLabel'>>,
  type: TokenEventType,
  at: number,
  { agentId = null, reason, detail }: EventDetails = {},
): Op {
  const record: TokenEventRecord = {
    id: uuid7(at),
    type,
    providerId: about.providerId,
    agentId,
    accountLabel: about.accountLabel ?? null,
    scopes: about.scopes,
    reason: reason ?? null,
    detail: detail ?? null,
    createdAt: at,
  }
  return put(EVENTS, record.id, record, { index: { at, provider: record.providerId }, ttlMs: KEPT_MS })
}
