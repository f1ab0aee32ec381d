/** Reads a run as lines of JSON: `npx tsx client.ts [origin]` */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'

const origin = process.argv[2] ?? 'http://127.0.0.1:3000'

const response = await fetch(`${origin}/lines/${randomUUID()}`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ text: 'Hello' }),
})
const events = (await response.text())
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line))

let text = ''
for (const { method, data } of events)
  if (method === 'messages' && data.event === 'content-block-delta') text += data.delta.text ?? ''
console.log(text)

assert.equal(text, 'You said: Hello')
assert.deepEqual([events[0].data.event, events.at(-1).data.event], ['running', 'completed'])
