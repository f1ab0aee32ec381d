import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { agents } from './kit/agents.ts'

// #region server
import { createAgentServer } from 'agentwire'
import { serve } from 'agentwire/node'

const server = createAgentServer({
  agents,
  platform: { webhooks: { allowLoopback: true } }, // for development: webhooks may call this machine
})
const { origin, close } = await serve(server, { port: 3000 })
// #endregion

// #region client
import { Client } from '@langchain/langgraph-sdk'

const client = new Client({ apiUrl: origin })

const { thread_id } = await client.threads.create()
const input = { messages: [{ role: 'user', content: 'Hello' }] }
const values = await client.runs.wait(thread_id, 'agent', { input })
// #endregion

assert.equal((values as { messages: unknown[] }).messages.length, 2)

// #region stream
let runId = ''
let lastId: string | undefined
const started = client.runs.stream(thread_id, 'agent', {
  input,
  streamMode: ['values', 'messages-tuple'],
  onRunCreated: (run) => {
    runId = run.run_id
  },
})
for await (const frame of started) {
  lastId = (frame as { id?: string }).id // its type does not name it
  if (frame.event === 'messages') break // the connection is gone; the run goes on
}
for await (const { event, data } of client.runs.joinStream(thread_id, runId, { lastEventId: lastId })) {
  if (event === 'values') console.log(data) // what came after that frame, on any instance
}
// #endregion

let called = (_body: Record<string, unknown>): void => {}
const bodies = new Promise<Record<string, unknown>>((resolve) => {
  called = resolve
})
const receiver = createServer(async (request, response) => {
  const chunks: Uint8Array[] = []
  for await (const chunk of request) chunks.push(chunk)
  response.end()
  called(JSON.parse(Buffer.concat(chunks).toString('utf8')))
}).listen(0, '127.0.0.1')
await new Promise((resolve) => receiver.once('listening', resolve))
const webhook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/done`

// #region webhook
const run = await client.runs.create(thread_id, 'agent', { input, webhook })
// POST to the webhook when the run has ended: { run_id, thread_id, status: 'success', values, … }
// #endregion

const body = await bodies
assert.equal(body.run_id, run.run_id)
assert.equal(body.status, 'success')
receiver.closeAllConnections()
receiver.close()
await close()
