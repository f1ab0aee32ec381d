import { agents } from '../kit/agents.ts'

// #region agents
import { createAgentServer, memoryCheckpointer, memoryStore } from 'agentwire'
import { cachedServer } from 'agentwire/next'

export const server = cachedServer(
  () => ({ store: memoryStore(), checkpointer: memoryCheckpointer() }), // opened once per process
  (storage) => createAgentServer({ agents, ...storage, drainMs: 10_000 }),
)
// #endregion
