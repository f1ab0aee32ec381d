import assert from 'node:assert/strict'
import { createAgentServer } from 'agentwire'
import { serve } from 'agentwire/node'
import { agents } from './kit/agents.ts'

const { origin, close } = await serve(createAgentServer({ agents, onError: () => {} }), {
  port: 0,
  silent: true,
})

process.env.BASE_URL = origin

// #region script
import { runServerAudits } from 'agentwire/audit'

const baseUrl = process.env.BASE_URL ?? 'http://127.0.0.1:2024'
const results = await runServerAudits({ baseUrl, assistantId: 'agent' })
for (const { rule, level, passed, skipped, detail } of results) {
  if (!passed && !skipped) console.log(level, rule, detail)
}
export const conforms = results.every(({ level, passed, skipped }) => level !== 'MUST' || passed || skipped)
// #endregion

assert.equal(conforms, true)
await close()
