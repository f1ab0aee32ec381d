import assert from 'node:assert/strict'

// #region server
import { createAgentServer, defineAgent, memoryStorage } from 'agentwire'
import { cachedServer, toNext } from 'agentwire/next'

const agent = defineAgent({ run: ({ message }) => message('Hello there') })
const server = cachedServer(memoryStorage, (storage) => createAgentServer({ agents: { agent }, ...storage }))

export const runtime = 'nodejs'
export const dynamic = 'force-dynamic'
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = toNext(server, { basePath: '/agents' })
// #endregion

assert.equal((await GET(new Request('http://127.0.0.1:3000/agents/ok'))).status, 200)
