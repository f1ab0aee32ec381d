import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agents } from './kit/agents.ts'
import { ask, lastText } from './kit/ask.ts'
import { closeServers } from './kit/served.ts'

const folder = mkdtempSync(join(tmpdir(), 'agentwire-docs-'))
process.env.STORAGE_URL = `file:${join(folder, 'agents.db')}`

// #region open
import { createAgentServer, defineAgent } from 'agentwire'
import { serve } from 'agentwire/node'
import { openStorage } from 'agentwire/storage'

const agent = defineAgent({
  async run({ message }) {
    await message('Hello there')
  },
})

const storage = await openStorage(process.env.STORAGE_URL ?? 'memory:') // file:agents.db, postgres://…, redis://…
const server = createAgentServer({
  agents: { agent },
  store: storage.store,
  checkpointer: storage.checkpointer,
})
await serve(server, { port: 3000 }) // fails now, not at the first request, if the database is unreachable
// #endregion

await ask(server.engine, 'thread', 'Hi')
closeServers()
await server.close()
await storage.close()
const again = await openStorage(process.env.STORAGE_URL)
const restarted = createAgentServer({ agents, store: again.store, checkpointer: again.checkpointer })
assert.equal(await lastText(restarted.engine, 'thread'), 'Hello there')
await restarted.close()
await again.close()

rmSync(folder, { recursive: true })
