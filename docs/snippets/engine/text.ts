// #region events
import type { AgentEngine, Principal } from 'agentwire'

export async function textOfRun(
  engine: AgentEngine,
  run: { threadId: string; runId: string; principal?: Principal },
) {
  let text = ''
  for await (const event of engine.events({ ...run, filter: { channels: ['messages'] } })) {
    if (event.type === 'gap') continue // the log no longer has the earlier events; the newest state follows
    if (event.method !== 'messages' || event.data.event !== 'content-block-delta') continue
    const { delta } = event.data
    if (delta.type === 'text-delta') text += delta.text
  }
  return text
}
// #endregion
