import { uuid7 } from '../../core/ids.ts'
import type { Store } from '../../storage/index.ts'
import { refusal } from '../errors.ts'
import { retryConflicts } from '../records/docs.ts'
import type { ConnectionRecord } from './records.ts'
import type { CallerContext, Connection } from './service.ts'
import { CONNECTIONS, load, loadAll, put, TOKENS, unchanged } from './stored.ts'
import { findToken, tokensOf } from './tokens/tokens.ts'

/** Which of the caller's tokens an agent uses, oldest first. */
export async function listConnections(
  { store, partition }: CallerContext,
  agentId: string,
): Promise<readonly Connection[]> {
  const [connections, tokens] = await Promise.all([
    connectionsOf(store, partition, agentId),
    tokensOf(store, partition),
  ])
  // Ids increase with time.
  return connections.flatMap((record): Connection[] => {
    const token = tokens.find((one) => one.record.id === record.tokenId)?.record
    return token ? [{ record, token }] : []
  })
}

export const connect = (context: CallerContext, agentId: string, tokenId: string): Promise<Connection> =>
  retryConflicts(async () => {
    const { store, partition, now } = context
    const token = await findToken(context, tokenId)
    const connections = await connectionsOf(store, partition, agentId)
    const known = connections.find((record) => record.tokenId === tokenId)
    if (known) return { record: known, token: token.record }
    const at = now()
    const record = { id: uuid7(at), agentId, tokenId, createdBy: context.id, createdAt: at }
    await store.commit(partition, {
      guards: [unchanged(TOKENS, token)],
      ops: [put(CONNECTIONS, record.id, record)],
    })
    return { record, token: token.record }
  })

export async function disconnect(
  { store, partition }: CallerContext,
  agentId: string,
  connectionId: string,
): Promise<void> {
  const found = await load<ConnectionRecord>(store, partition, CONNECTIONS, connectionId)
  if (found?.record.agentId !== agentId) throw refusal(404, `Connection ID ${connectionId} not found.`)
  await store.commit(partition, { ops: [{ op: 'delete', collection: CONNECTIONS, id: connectionId }] })
}

export const connectionsOf = async (
  store: Store,
  partition: string,
  agentId: string,
): Promise<readonly ConnectionRecord[]> =>
  (await loadAll<ConnectionRecord>(store, CONNECTIONS, { partition }))
    .map(({ record }) => record)
    .filter((record) => record.agentId === agentId)
