import assert from 'node:assert/strict'
import { forward } from '../kit/forward.ts'
import { closeServers } from '../kit/served.ts'

const { sessions } = await import('./server.ts')
await forward('127.0.0.1:3000')
sessions.set('eve-token', { id: 'eve', tenant: 'umbrella', role: 'editor' })

// #region client
import { Client } from '@langchain/langgraph-sdk'

const clientOf = (token: string) =>
  new Client({
    apiUrl: 'http://127.0.0.1:3000',
    defaultHeaders: { authorization: `Bearer ${token}` },
    callerOptions: { maxRetries: 0 },
  })

const { thread_id } = await clientOf('ada-token').threads.create()
await clientOf('bob-token').threads.get(thread_id) // same tenant
// #endregion

await assert.rejects(clientOf('bob-token').threads.delete(thread_id), /403/)
await assert.rejects(clientOf('eve-token').threads.get(thread_id), /404/)
await assert.rejects(clientOf('nobody').threads.get(thread_id), /401/)
closeServers()
