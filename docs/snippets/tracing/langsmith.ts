import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const asked: string[] = []
const langsmith = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`)
  request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'))
})
await new Promise<void>((resolve) => langsmith.listen(0, '127.0.0.1', resolve))
process.env.LANGSMITH_ENDPOINT = `http://127.0.0.1:${(langsmith.address() as AddressInfo).port}`
process.env.LANGSMITH_API_KEY = 'key'
process.env.LANGSMITH_TRACING = 'true'

// #region sink
import { startLlmRun } from 'agentwire/tracing'
import { langsmithSink } from 'agentwire/tracing/langsmith'
import { Client } from 'langsmith'

const client = new Client() // reads LANGSMITH_API_KEY
const sink = langsmithSink({ client, project: 'agents' })

const request = { model: 'gpt-5', messages: [{ role: 'user', content: 'What is 2 + 2?' }] }
const run = startLlmRun({ name: 'answer', request, sinks: [sink] })
run.end({ choices: [{ message: { role: 'assistant', content: 'Four.' } }] })
await client.awaitPendingTraceBatches() // before the process exits
// #endregion

assert.ok(
  asked.some((line) => /^POST \/runs/.test(line)),
  asked.join(),
)
langsmith.close()
langsmith.closeAllConnections()
