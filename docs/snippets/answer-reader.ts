import assert from 'node:assert/strict'
import { createAgentEngine } from 'agentwire'
import { agents } from './kit/agents.ts'

// #region reader
import type { AgentEngine } from 'agentwire'
import { ANSWER_EVENTS, createAnswerReader } from 'agentwire/face'

export async function print(engine: AgentEngine, threadId: string, content: string) {
  const input = { messages: [{ role: 'user', content }] }
  const answer = await engine.follow({ threadId, start: { input }, filter: ANSWER_EVENTS })
  const reader = createAnswerReader()
  for await (const event of answer)
    for (const item of reader.push(event)) {
      if (item.type === 'textDelta' && item.message.owner === null) process.stdout.write(item.text)
      if (item.type === 'callEnd') console.log(`\n${item.call.name}`, item.input)
    }
  return answer.end
}
// #endregion

const engine = createAgentEngine({ agents })
assert.equal((await print(engine, 'thread', 'Hi'))?.status, 'completed')
console.log()
await engine.close()
