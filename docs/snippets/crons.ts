import assert from 'node:assert/strict'
import { createAgentServer } from 'agentwire'
import { serve } from 'agentwire/node'
import { agents } from './kit/agents.ts'
import { forward } from './kit/forward.ts'

const { close } = await serve(createAgentServer({ agents }), { port: 3000, silent: true })
await forward('127.0.0.1:3000')

// #region cron
import { Client } from '@langchain/langgraph-sdk'

const client = new Client({ apiUrl: 'http://127.0.0.1:3000' })

const cron = await client.crons.create('agent', {
  schedule: '30 8 * * MON-FRI',
  timezone: 'Europe/Berlin',
  input: { messages: [{ role: 'user', content: 'What is new?' }] },
  onRunCompleted: 'keep',
})
await client.crons.update(cron.cron_id, { enabled: false })
// #endregion

const [found] = await client.crons.search({ enabled: false })
assert.equal(found?.cron_id, cron.cron_id)
assert.equal(found?.next_run_date, null)
await close()
