import assert from 'node:assert/strict'
import { ask, lastText } from '../kit/ask.ts'

// #region server
import { createAgentServer, defineAgent } from 'agentwire'
import { serve } from 'agentwire/node'
import { openStorage } from 'agentwire/storage'

const agent = defineAgent({
  async run({ message }) {
    await message('Hello there')
  },
})

const storage = await openStorage(process.env.STORAGE_URL ?? 'memory:')
const server = createAgentServer({ agents: { agent }, ...storage, drainMs: 20_000 })
const { close } = await serve(server, {
  port: 8000,
  hostname: '0.0.0.0',
  trustProxy: true, // only behind a proxy that sets X-Forwarded-Proto and X-Forwarded-Host
  closeTimeout: 25_000,
})

process.once('SIGTERM', async () => {
  await close()
  await storage.close()
})
// #endregion

const threadId = crypto.randomUUID()
await ask(server.engine, threadId, 'Hi')
assert.equal(await lastText(server.engine, threadId), 'Hello there')
process.removeAllListeners('SIGTERM')
await close()
await storage.close()
