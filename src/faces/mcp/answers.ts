import type { Principal } from '../../core/http/index.ts'
import { withoutMetadataFilter } from '../../core/principal.ts'
import {
  type AgentEngine,
  type FoundAnswer,
  isAnswerEnded,
  type OpenInterrupt,
  openQuestions,
} from '../../engine/index.ts'
import { permit, type ThreadAction } from '../kit/access.ts'
import type { McpCall } from './call.ts'

/** An answer that the caller is permitted to use. */
export interface PermittedAnswer {
  readonly found: FoundAnswer
  /** The caller, with the filter of the permission. */
  readonly principal: Principal | null
}

/**
 * The caller's answer with this id, with one of its run ids, or the thread's active one. Undefined if it does
 * not exist or has another owner. Throws 403.
 */
export async function permittedAnswer(
  { context: { engine, authorize }, call }: McpCall,
  action: ThreadAction,
  { threadId, answerId }: { readonly threadId: string; readonly answerId?: string | undefined },
): Promise<PermittedAnswer | undefined> {
  const named = await engine.findAnswer({
    threadId,
    answerId,
    principal: withoutMetadataFilter(call.principal),
  })
  if (!named) return undefined
  const { assistantId } = named.record
  const { principal } = await permit(authorize, call, action, { threadId, assistantId })
  const found = await engine.findAnswer({ threadId, answerId, principal })
  return found && { found, principal }
}

/** The open interrupts of an answer. */
export async function openIn(
  engine: AgentEngine,
  { thread, record }: FoundAnswer,
): Promise<readonly OpenInterrupt[]> {
  if (record.state !== 'input-required') return []
  return (await openQuestions(engine, thread)).filter(({ runId }) => record.runIds.includes(runId))
}

/** The answer whose question a thread is waiting on. A message does not answer it. */
export async function waitingAnswer(
  { context: { engine } }: McpCall,
  asked: Parameters<AgentEngine['findAnswer']>[0],
): Promise<FoundAnswer | undefined> {
  const found = await engine.findAnswer(asked)
  if (!found || isAnswerEnded(found.record)) return undefined
  return (await openIn(engine, found)).length > 0 ? found : undefined
}

/** The address of an answer for clients: its thread and one of its runs. */
export const addressOf = (threadId: string, runId: string): string => `${threadId}:${runId}`

/** Parses an address. Clients can forge it, so the owner is always looked up. */
export function readAddress(
  address: string,
): { readonly threadId: string; readonly answerId: string } | undefined {
  const end = address.lastIndexOf(':')
  const threadId = address.slice(0, end)
  const answerId = address.slice(end + 1)
  return end > 0 && answerId !== '' && address.length <= 1_024 ? { threadId, answerId } : undefined
}
