// #region edit
import type { AgentEngine } from 'agentwire'

export async function edit(engine: AgentEngine, threadId: string, messageId: string, content: string) {
  const checkpointId = await engine.checkpointBefore({ threadId, messageId })
  if (checkpointId === undefined) throw new Error('There is no such message.')
  const input = { messages: [{ role: 'user', content }] }
  return engine.follow({ threadId, start: { input, checkpointId } })
}
// #endregion
