import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { intercept } from '../kit/intercept.ts'
import { closeServers, origin } from '../kit/served.ts'

const { server } = await import('./server.ts')
intercept('127.0.0.1:3000', server.fetch)
const bodies = new Promise<Record<string, unknown>>((resolve) => {
  createServer(async (request, response) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of request) chunks.push(chunk)
    response.end()
    resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')))
  }).listen(0, '127.0.0.1')
})
process.env.WEBHOOK_URL = `${await origin()}/done`

// #region webhook
import { Client } from '@langchain/langgraph-sdk'

const client = new Client({ apiUrl: 'http://127.0.0.1:3000' })
const { thread_id } = await client.threads.create()
const run = await client.runs.create(thread_id, 'agent', {
  input: { messages: [{ role: 'user', content: 'Hello' }] },
  webhook: process.env.WEBHOOK_URL ?? 'http://127.0.0.1:4000/done',
})
// POST to the webhook when the run has ended: { run_id, thread_id, status: 'success', values, … }
// #endregion

const body = await bodies
assert.equal(body.run_id, run.run_id)
assert.equal(body.status, 'success')
closeServers()
await server.close()
