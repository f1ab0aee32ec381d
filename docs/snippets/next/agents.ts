import { agents } from '../kit/agents.ts'

// #region agents
import { createAgentServer, memoryStorage } from 'agentwire'
import { cachedServer } from 'agentwire/next'

export const server = cachedServer(
  () => memoryStorage(), // opened once per process
  (storage) => createAgentServer({ agents, ...storage, drainMs: 10_000 }),
)
// #endregion
