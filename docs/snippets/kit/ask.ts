import type { AgentEngine, RunResult } from 'agentwire'

/** Starts a run with what a user says, and waits for its end. */
export async function ask(
  engine: AgentEngine,
  threadId: string,
  text: string,
  principal?: { id: string },
): Promise<RunResult> {
  const input = { messages: [{ type: 'human', content: text }] }
  const { runId } = await engine.start({ threadId, input, principal })
  return engine.wait({ threadId, runId, principal })
}

/** The last message of a thread, as text. */
export async function lastText(
  engine: AgentEngine,
  threadId: string,
  principal?: { id: string },
): Promise<string> {
  const thread = await engine.findThread({ threadId, principal })
  if (!thread) throw new Error(`There is no thread ${threadId}.`)
  const state = await engine.readState(thread)
  const content = (state!.values.messages as { content: unknown }[]).at(-1)?.content
  return typeof content === 'string' ? content : JSON.stringify(content)
}
