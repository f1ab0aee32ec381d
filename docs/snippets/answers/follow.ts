// #region follow
import type { AgentEngine } from 'agentwire'

export async function ask(engine: AgentEngine, threadId: string, content: string) {
  const input = { messages: [{ role: 'user', content }] }
  const answer = await engine.follow({ threadId, start: { input } })
  for await (const event of answer)
    if (event.type === 'event' && event.method === 'custom') console.log(event.data.payload)
  return answer.end
}

export async function approve(engine: AgentEngine, threadId: string, questionId: string) {
  const answer = await engine.follow({ threadId, respond: { answers: { [questionId]: true } } })
  return answer.ended()
}
// #endregion
