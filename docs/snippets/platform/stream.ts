import assert from 'node:assert/strict'
import { intercept } from '../kit/intercept.ts'
import { closeServers } from '../kit/served.ts'

const { server } = await import('./server.ts')
intercept('127.0.0.1:3000', server.fetch)

// #region stream
import { Client } from '@langchain/langgraph-sdk'

const client = new Client({ apiUrl: 'http://127.0.0.1:3000' })
const { thread_id } = await client.threads.create()

let runId = ''
let lastId: string | undefined
const started = client.runs.stream(thread_id, 'agent', {
  input: { messages: [{ role: 'user', content: 'Hello' }] },
  streamMode: ['values', 'messages-tuple'],
  onRunCreated: (run) => {
    runId = run.run_id
  },
})
for await (const frame of started) {
  lastId = (frame as { id?: string }).id // its type does not have it
  if (frame.event === 'messages') break // the connection is lost; the run continues
}
for await (const { event, data } of client.runs.joinStream(thread_id, runId, { lastEventId: lastId })) {
  if (event === 'values') console.log(data) // the frames after lastId, on any instance
}
// #endregion

assert.ok(lastId)
closeServers()
