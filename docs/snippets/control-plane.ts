import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeServers, origin } from './kit/served.ts'

const dir = mkdtempSync(join(tmpdir(), 'agentwire-docs-'))
process.env.CI_KEY = 'key-of-ci'
process.env.SECRETS_KEY = Buffer.alloc(32, 7).toString('base64')
process.env.BUILDS = dir

// #region server
import { createAgentServer, defineAgent } from 'agentwire'
import { apiKeys, createControlPlaneHandler } from 'agentwire/control-plane'
import { processDeployer } from 'agentwire/control-plane/process' // others: kubernetes, command
import { serve } from 'agentwire/node'

const agent = defineAgent({
  async run({ message }) {
    await message('Hello there')
  },
})

const controlPlane = createControlPlaneHandler({
  // Builds and starts deployments. It runs the code of these repositories with this user's rights.
  deployer: processDeployer({
    dir: process.env.BUILDS ?? './builds',
    allowRepositories: ['file:///srv/agents/'],
  }),
  authenticate: apiKeys({ [process.env.CI_KEY!]: { id: 'ci' } }),
  secrets: { key: process.env.SECRETS_KEY }, // openssl rand -base64 32
  // Deployments are kept in memory unless you pass a `store`.
})
const server = createAgentServer({ agents: { agent }, controlPlane }) // or mount it on its own, as any handler
await serve(server, { port: 3000 })
// #endregion

const url = await origin()
const list = (headers: Record<string, string>) => fetch(`${url}/v2/deployments`, { headers })
assert.equal((await list({ 'x-api-key': 'key-of-ci' })).status, 200)
assert.ok([401, 403].includes((await list({})).status))
closeServers()
await server.close()
rmSync(dir, { recursive: true })
