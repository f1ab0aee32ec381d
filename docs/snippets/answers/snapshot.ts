// #region snapshot
import type { AgentEngine } from 'agentwire'

export async function load(engine: AgentEngine, threadId: string) {
  const snapshot = await engine.snapshot({ threadId })
  if (!snapshot) return undefined
  const { state, questions, answer, seq } = snapshot
  const events = answer && (await engine.follow({ threadId, answerId: answer.taskId, after: seq }))
  return { messages: state?.values.messages, questions, events }
}
// #endregion
