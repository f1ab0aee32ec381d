import { createAgentServer } from 'agentwire'
import { assistant } from './assistant.ts'
import { authenticate } from './auth.ts'
import { openStorage } from './storage/memory.ts'

const { store, checkpointer } = openStorage()

/** Serves your agents. `server.ts` mounts it below `/agents`. */
export const server = createAgentServer({
  agents: { assistant },
  store,
  checkpointer,
  authenticate,
  devtools: process.env.NODE_ENV === 'development', // at `/agents/devtools`
})
