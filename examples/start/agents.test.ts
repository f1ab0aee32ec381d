import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAgentEngine } from 'agentwire'
// #region provider
import { listen } from '../offline/listen.ts'

await listen() // replaces the provider, so that the test needs no key
// #endregion
const { assistant } = await import('./assistant.ts')

const content = 'Let the researcher find out about tea, multiply 6 by 7, and mail both to ada@example.com.'

test('the assistant asks before it sends a mail', async () => {
  const engine = createAgentEngine({ agents: { assistant } }) // in memory
  const threadId = 'test'
  const { runId } = await engine.start({ threadId, input: { messages: [{ role: 'user', content }] } })
  const { status, interrupts } = await engine.wait({ threadId, runId })
  assert.equal(status, 'interrupted')
  const answers = { [interrupts[0]!.id]: { decisions: [{ type: 'approve' }] } }
  const answered = await engine.respond({ threadId, answers })
  assert.equal((await engine.wait({ threadId, runId: answered.runId })).status, 'success')
  const state = await engine.readState((await engine.findThread({ threadId }))!)
  const { messages } = state!.values as { messages: { type: string; content: unknown }[] }
  const said = messages.map((message) => `${message.type}: ${JSON.stringify(message.content)}`)
  assert.match(said.join('\n'), /tool: .*sent to ada@example\.com/)
  assert.match(said.at(-1)!, /^ai: .*42/)
  await engine.close()
})

// #region auth
test('a user has to sign in', async () => {
  process.env.AGENT_USERS = 'ada:secret'
  const { authenticate } = await import('./auth.ts')
  const as = (user: string) =>
    new Request('http://localhost', { headers: { authorization: `Basic ${btoa(user)}` } })
  assert.deepEqual(await authenticate(as('ada:secret')), { id: 'ada' })
  const refused = authenticate(as('ada:guess'))
  assert.equal(refused instanceof Response && refused.status, 401)
})
// #endregion
