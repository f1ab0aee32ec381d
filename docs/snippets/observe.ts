import assert from 'node:assert/strict'
import { agents } from './kit/agents.ts'
import { ask } from './kit/ask.ts'

const page = (_text: string, _error: unknown) => {}

// #region observe
import { createAgentServer, type ServerEvent } from 'agentwire'

const observed = createAgentServer({
  agents,
  observe: (event: ServerEvent) => console.log(event),
})
// #endregion

await observed.close()

// #region log
const ended = new Map<string, number>()

function observe(event: ServerEvent): void {
  if (event.type === 'run.ended') ended.set(event.reason, (ended.get(event.reason) ?? 0) + 1)
  if (event.type === 'run.ended' && event.status === 'error')
    console.error('run failed', event.runId, event.error)
  if (event.type === 'store.unavailable') page('The database does not answer.', event.error)
}
// #endregion

const server = createAgentServer({ agents, observe })
await ask(server.engine, 'thread', 'Hi')
assert.deepEqual([...ended], [['completed', 1]])
await server.close()
