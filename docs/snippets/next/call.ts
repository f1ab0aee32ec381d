import assert from 'node:assert/strict'
import { GET } from './app/agents/[[...path]]/route.ts'
import { server } from './lib/agents'

const response = await GET(new Request('http://127.0.0.1:3000/agents/threads'))
assert.deepEqual(await response.json(), [])
await server.close()
