import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ask, lastText } from './kit/ask.ts'
import { closeServers } from './kit/served.ts'

const home = process.cwd()
const folder = mkdtempSync(join(tmpdir(), 'agentwire-docs-'))
process.chdir(folder)

// #region sqlite
import { createAgentServer, defineAgent } from 'agentwire'
import { serve } from 'agentwire/node'
import { sqliteStorage } from 'agentwire/sqlite' // needs libsql on Node 20; nothing on 22.13 and newer

const agent = defineAgent({
  async run({ message }) {
    await message('Hello there')
  },
})

const { setup, store, checkpointer } = sqliteStorage({ url: 'file:agents.db' })
await setup() // optional: the first call does it
await serve(createAgentServer({ agents: { agent }, store, checkpointer }), { port: 3000 })
// #endregion

closeServers()
const server = createAgentServer({ agents: { agent }, store, checkpointer })
await ask(server.engine, 'thread', 'Hi')
assert.equal(await lastText(server.engine, 'thread'), 'Hello there')
await server.close()
process.chdir(home)
rmSync(folder, { recursive: true })
