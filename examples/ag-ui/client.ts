/** Calls the agent over AG-UI, as a page does: `npx tsx client.ts [origin]` */
import assert from 'node:assert/strict'

const origin = process.argv[2] ?? 'http://127.0.0.1:3000'

interface Event {
  readonly type: string
  readonly delta?: string
  readonly messages?: readonly Message[]
  readonly outcome?: { readonly interrupts?: readonly { readonly id: string; readonly message: string }[] }
}

interface Message {
  readonly id: string
  readonly role: string
  readonly content?: string
  readonly toolCalls?: readonly { readonly id: string; readonly function: { readonly name: string } }[]
  readonly toolCallId?: string
}

const threadId = crypto.randomUUID()
const paint = {
  name: 'paint',
  description: 'Paints the page.',
  parameters: { type: 'object', properties: {} },
}
let messages: readonly Message[] = []

/** Sends the conversation, like `HttpAgent` of `@ag-ui/client`, and reads the run's events. */
async function run(more: object = {}): Promise<readonly Event[]> {
  const response = await fetch(`${origin}/ag-ui/agent`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ threadId, runId: crypto.randomUUID(), messages, tools: [paint], ...more }),
  })
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '))
  const events = lines.map((line) => JSON.parse(line.slice(6)) as Event)
  for (const { delta = '' } of events) process.stdout.write(delta)
  messages = events.findLast(({ type }) => type === 'MESSAGES_SNAPSHOT')?.messages ?? messages
  return events
}

messages = [{ id: crypto.randomUUID(), role: 'user', content: 'Make it colorful.' }]
const [question] = (await run()).at(-1)?.outcome?.interrupts ?? []
assert.equal(question?.message, 'May I paint the page red?')

await run({ resume: [{ interruptId: question.id, status: 'resolved', payload: { approved: true } }] })
const [call] = messages.at(-1)?.toolCalls ?? []
assert.equal(call?.function.name, 'paint')

const result = { id: crypto.randomUUID(), role: 'tool', toolCallId: call.id, content: 'the page is red' }
messages = [...messages, result]
await run()
assert.equal(messages.at(-1)?.content, 'Done: the page is red.')
