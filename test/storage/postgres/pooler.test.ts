import { AIMessage } from '@langchain/core/messages'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import {
  type PostgresPool,
  type PostgresQuery,
  postgresStorage,
} from '../../../src/storage/postgres/postgres.ts'
import { hasPostgres, sharedPostgres } from '../../kit/postgres-server.ts'

const CONTROL = /^(BEGIN|COMMIT|ROLLBACK)$/

/** A pool behind a pooler in transaction mode: every transaction may run on another connection of the server. */
function pooled(pool: pg.Pool, servers: pg.Client[]): { pool: PostgresPool; used: Set<number> } {
  const used = new Set<number>()
  let turn = 0
  const connect = async () => {
    let held: number | undefined
    return {
      async query(query: PostgresQuery) {
        const at = held ?? turn++ % servers.length
        used.add(at)
        if (query.text === 'BEGIN') held = at
        else if (CONTROL.test(query.text)) held = undefined
        return servers[at]!.query(query as pg.QueryConfig)
      },
      release() {},
      on() {},
      removeListener() {},
    }
  }
  const { options } = pool
  const view = { connect, on() {}, listenerCount: () => 1, Client: pg.Client, options }
  return { pool: view, used }
}

describe.runIf(hasPostgres())('postgresStorage behind a pooler in transaction mode', async () => {
  const url = await sharedPostgres()
  const pool = new pg.Pool({ connectionString: url })
  const servers = Array.from({ length: 3 }, () => new pg.Client({ connectionString: url }))
  await Promise.all(servers.map((client) => client.connect()))
  afterAll(async () => {
    await Promise.all(servers.map((client) => client.end()))
    await pool.end()
  })

  test('needs nothing that stays with a connection: no prepared statement, setting, lock or temporary table', async () => {
    const { pool: view, used } = pooled(pool, servers)
    const { store, checkpointer, report, close } = postgresStorage({ pool: view, schema: 'pooler' })
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', () => ({ messages: [new AIMessage('hi')] }))
      .addEdge(START, 'model')
      .addEdge('model', END)
      .compile({ checkpointer: checkpointer as BaseCheckpointSaver })
    const config = { configurable: { thread_id: 't' } }
    for (let turn = 0; turn < 3; turn++) await graph.invoke({ messages: [] }, config)
    expect((await graph.getState(config)).values.messages.length).toBe(3)
    await store.commit('p', {
      ops: [
        { op: 'claim', owner: 'o', token: 1, ttlMs: 60_000 },
        { op: 'append', token: 1, events: [{ topic: 't', data: new Uint8Array(5) }] },
        { op: 'put', collection: 'c', id: 'd', value: 1, index: { a: 1 } },
      ],
    })
    expect((await store.read('p', { after: 0 })).count).toBe(1)
    expect((await store.list('c', { where: { a: 1 } })).docs.length).toBe(1)
    await store.sweep()
    await checkpointer.deleteThread('t')
    expect((await report()).counts).toMatchObject({ events: 1, checkpoints: 0 })
    expect(used.size).toBe(servers.length)
    for (const server of servers) {
      const { rows } = await server.query(
        `SELECT (SELECT count(*) FROM pg_prepared_statements)::int AS prepared,
          (SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory')::int AS locks,
          (SELECT count(*) FROM pg_listening_channels())::int AS channels,
          (SELECT count(*) FROM pg_class WHERE relpersistence = 't' AND pg_table_is_visible(oid))::int AS temporary,
          (SELECT count(*) FROM pg_settings WHERE source = 'session')::int AS settings`,
      )
      expect(rows).toEqual([{ prepared: 0, locks: 0, channels: 0, temporary: 0, settings: 0 }])
    }
    await close()
  })
})
