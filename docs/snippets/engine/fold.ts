// #region fold
import { type AgentEngine, createFold, type FoldedMessage, type Principal } from 'agentwire'

export async function* messagesOfRun(
  engine: AgentEngine,
  run: { threadId: string; runId: string; principal?: Principal },
): AsyncGenerator<readonly FoldedMessage[]> {
  const fold = createFold()
  for await (const event of engine.events(run)) {
    fold.push(event)
    yield fold.read().messages
  }
}
// #endregion
