import { agents } from '../kit/agents.ts'

// #region agents
import { createAgentServer, memoryCheckpointer, memoryStore } from 'agentwire'
import { oneServer } from 'agentwire/next'

export const server = oneServer(
  () => ({ store: memoryStore(), checkpointer: memoryCheckpointer() }), // opened once per process
  (storage) => createAgentServer({ agents, ...storage, drainMs: 10_000 }),
)
// #endregion
