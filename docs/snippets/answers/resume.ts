// #region resume
import type { AgentEngine } from 'agentwire'

export async function resume(engine: AgentEngine, threadId: string, signal: AbortSignal) {
  const answer = await engine.follow({ threadId, signal })
  if (!answer) return 'nothing to resume'
  for await (const event of answer) console.log(event)
  return answer.end
}
// #endregion
