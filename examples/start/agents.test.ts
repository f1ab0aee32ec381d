import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAgentEngine } from 'agentwire'
import { toolCallsOf } from 'agentwire/testing'

// #region provider
process.env.OPENAI_API_KEY = '' // The script of offline.ts answers.
// #endregion
const { assistant } = await import('./assistant.ts')

test('the assistant sends only the mails that are approved', async () => {
  const engine = createAgentEngine({ agents: { assistant } }) // in memory
  const asked = await engine.run({
    input: 'Mail what you know about tea to ada@example.com and bob@example.com.',
  })
  assert.equal(asked.status, 'interrupted')
  const decisions = [{ type: 'approve' }, { type: 'reject', message: 'Not to Bob.' }]
  const answers = { [asked.interrupts[0]!.id]: { decisions } }
  const done = await engine.run({ threadId: asked.threadId, answers })
  assert.equal(done.status, 'success')
  const results = toolCallsOf(done.messages).map(({ name, result }) => [name, result])
  assert.deepEqual(results, [
    ['look_up', 'People drink tea everywhere.'],
    ['send_mail', 'Sent to ada@example.com.'],
    ['send_mail', 'Not to Bob.'],
  ])
  assert.match(done.text, /Done/)
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
