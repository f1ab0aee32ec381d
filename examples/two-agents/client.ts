/** Lets two agents talk over A2A v0.3, in one conversation and one trace: `npx tsx client.ts [origin]` */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'

const origin = process.argv[2] ?? 'http://127.0.0.1:3000'

/** The ids of an answer. */
interface Ids {
  readonly contextId?: string
  readonly taskId?: string
}

/**
 * Sends one message as the documentation of LangGraph's platform does: with both ids of the last answer, from
 * either agent.
 */
async function send(assistantId: string, text: string, ids: Ids, threadId: string) {
  const message = { role: 'user', parts: [{ kind: 'text', text }], messageId: randomUUID(), ...ids }
  const response = await fetch(`${origin}/a2a/${assistantId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: randomUUID(),
      method: 'message/send',
      params: { message },
      // Next to the params: this id groups both agents' traces into one conversation.
      metadata: { thread_id: threadId },
    }),
  })
  const { result, error } = await response.json()
  if (error) throw new Error(error.message)
  const said: string = result.artifacts[0].parts[0].text
  return { said, ids: { contextId: result.contextId, taskId: result.id } satisfies Ids }
}

const agents = [{ assistantId: 'optimist' }, { assistantId: 'pessimist' }]
let threadId: string = randomUUID()
let ids: Ids = {}
let text = 'How will tomorrow be?'
const answers: string[] = []
const contexts = new Set<string>()
const tasks = new Set<string>()
for (let round = 1; round <= 2; round++)
  for (const { assistantId } of agents) {
    const answer = await send(assistantId, text, ids, threadId)
    console.log(`${assistantId}: ${answer.said}`)
    ids = answer.ids
    threadId = answer.ids.contextId
    text = answer.said.split(' (')[0]!
    answers.push(answer.said)
    contexts.add(answer.ids.contextId)
    tasks.add(answer.ids.taskId)
  }

assert.deepEqual(answers, [
  '1. It will be sunny. (to “How will tomorrow be?”)',
  '1. It will rain. (to “1. It will be sunny.”)',
  '2. It will be sunny. (to “1. It will rain.”)',
  '2. It will rain. (to “2. It will be sunny.”)',
])
assert.equal(contexts.size, 1, 'The conversation is one.')
assert.equal(tasks.size, 4, 'Every message has a task of its own.')
