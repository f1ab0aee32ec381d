import assert from 'node:assert/strict'
import { server } from './agents.ts'
import { GET } from './route.ts'

const response = await GET(new Request('http://127.0.0.1:3000/agents/threads'))
assert.deepEqual(await response.json(), [])
await server.close()
