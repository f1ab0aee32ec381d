import { uuid7 } from '../../ids.ts'
import { refusal } from '../errors.ts'
import { retryConflicts } from '../records/retry-conflicts.ts'
import type { AuthContext } from './context.ts'
import { noToken } from './errors.ts'
import type { ConnectionRecord, TokenRecord } from './records.ts'
import type { AuthService, Connection } from './service.ts'
import { CONNECTIONS, load, loadAll, put, TOKENS, unchanged } from './stored.ts'
import { partitionOf, tokensOf } from './tokens/tokens.ts'

export type ConnectionMethods = Pick<AuthService, 'listConnections' | 'connect' | 'disconnect'>

/** Which of the caller's tokens its agents use. */
export function connectionMethods({ store, now }: AuthContext): ConnectionMethods {
  const connectionsOf = async (partition: string, agentId: string) =>
    (await loadAll<ConnectionRecord>(store, CONNECTIONS, { partition })).filter(
      ({ record }) => record.agentId === agentId,
    )

  return {
    async listConnections(caller, agentId) {
      const partition = await partitionOf(caller)
      const [connections, tokens] = await Promise.all([
        connectionsOf(partition, agentId),
        tokensOf(store, partition),
      ])
      const byId = new Map(tokens.map(({ record }) => [record.id, record]))
      // Their ids rise with the time.
      return connections.flatMap(({ record }): Connection[] => {
        const token = byId.get(record.tokenId)
        return token ? [{ record, token }] : []
      })
    },

    connect: (caller, agentId, tokenId) =>
      retryConflicts(async () => {
        const partition = await partitionOf(caller)
        const token = await load<TokenRecord>(store, partition, TOKENS, tokenId)
        if (!token) throw noToken(tokenId)
        const known = (await connectionsOf(partition, agentId)).find(
          ({ record }) => record.tokenId === tokenId,
        )
        const at = now()
        const made = { id: uuid7(at), agentId, tokenId, createdBy: caller.id, createdAt: at }
        const record: ConnectionRecord = known?.record ?? made
        if (!known)
          await store.commit(partition, {
            guards: [unchanged(TOKENS, token)],
            ops: [put(CONNECTIONS, record.id, record)],
          })
        return { record, token: token.record }
      }),

    async disconnect(caller, agentId, connectionId) {
      const partition = await partitionOf(caller)
      const found = await load<ConnectionRecord>(store, partition, CONNECTIONS, connectionId)
      if (found?.record.agentId !== agentId) throw refusal(404, `Connection ID ${connectionId} not found.`)
      await store.commit(partition, { ops: [{ op: 'delete', collection: CONNECTIONS, id: connectionId }] })
    },
  }
}
