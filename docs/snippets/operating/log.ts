import assert from 'node:assert/strict'
import { createAgentServer } from 'agentwire'
import { agents } from '../kit/agents.ts'
import { ask } from '../kit/ask.ts'

// #region log
import type { ServerEvent } from 'agentwire'

export const ended = new Map<string, number>()

export function observe(event: ServerEvent): void {
  if (event.type === 'run.ended') ended.set(event.reason, (ended.get(event.reason) ?? 0) + 1)
  if (event.type === 'run.ended' && event.status === 'error')
    console.error('run failed', event.runId, event.error)
  if (event.type === 'store.unavailable') page('The database does not respond.', event.error)
}

function page(text: string, error: unknown): void {
  console.error(text, error) // call your pager here
}
// #endregion

const server = createAgentServer({ agents, observe })
await ask(server.engine, 'thread', 'Hi')
assert.deepEqual([...ended], [['completed', 1]])
await server.close()
