import { createAgentServer } from 'agentwire'
import { assistant } from './assistant.ts'
import { authenticate } from './auth.ts'
import { openStorage } from './storage/memory.ts'

const storage = openStorage()

/** Serves your agents. `server.ts` mounts it below `/agents`. */
export const server = createAgentServer({
  agents: { assistant },
  ...storage,
  authenticate,
  devtools: process.env.NODE_ENV === 'development', // at `/agents/devtools`
})

/** For a shutdown: ends runs and streams, and then closes the storage. */
export async function close(): Promise<void> {
  await server.close()
  await storage.close()
}
