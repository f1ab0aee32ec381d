import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAgentServer, memoryStore } from 'agentwire'
import { agents } from './kit/agents.ts'

const dir = mkdtempSync(join(tmpdir(), 'agentwire-docs-'))
process.env.CI_KEY = 'key-of-ci'
process.env.SECRETS_KEY = Buffer.alloc(32, 7).toString('base64')
const store = memoryStore()

// #region server
import { apiKeys, createControlPlaneHandler } from 'agentwire/control-plane'
import { processDeployer } from 'agentwire/control-plane/process' // others: kubernetes, command
import { serve } from 'agentwire/node'

const controlPlane = createControlPlaneHandler({
  // What builds and starts. It runs the code of those repositories with the rights of this user.
  deployer: processDeployer({ dir, allowRepositories: ['file:///srv/agents/'] }),
  authenticate: apiKeys({ [process.env.CI_KEY!]: { id: 'ci' } }),
  secrets: { key: process.env.SECRETS_KEY }, // openssl rand -base64 32
  store, // default: a memoryStore()
})
const server = createAgentServer({ agents, controlPlane }) // or mount it alone, as any handler
const { origin, close } = await serve(server, { port: 3000 })
// #endregion

const list = (headers: Record<string, string>) => fetch(`${origin}/v2/deployments`, { headers })
assert.equal((await list({ 'x-api-key': 'key-of-ci' })).status, 200)
assert.ok([401, 403].includes((await list({})).status))
await close()
rmSync(dir, { recursive: true })
