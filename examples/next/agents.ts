import { createAgentServer } from 'agentwire'
import { cachedServer } from 'agentwire/next'
import { assistant } from '../start/assistant.ts'
import { authenticate } from '../start/auth.ts'
import { openStorage } from '../start/storage/memory.ts'

/** Serves your agents. The route mounts it below `/agents`. */
export const server = cachedServer(openStorage, (storage) =>
  createAgentServer({
    agents: { assistant },
    ...storage,
    authenticate,
    devtools: process.env.NODE_ENV === 'development', // at `/agents/devtools`
  }),
)
