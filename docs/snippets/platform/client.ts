import assert from 'node:assert/strict'
import { intercept } from '../kit/intercept.ts'
import { closeServers } from '../kit/served.ts'

const { server } = await import('./server.ts')
intercept('127.0.0.1:3000', server.fetch)

// #region client
import { Client } from '@langchain/langgraph-sdk'

const client = new Client({ apiUrl: 'http://127.0.0.1:3000' })
const { thread_id } = await client.threads.create()
const input = { messages: [{ role: 'user', content: 'Hello' }] }
const values = await client.runs.wait(thread_id, 'agent', { input })
console.log(values)
// #endregion

assert.equal((values as { messages: unknown[] }).messages.length, 2)
closeServers()
