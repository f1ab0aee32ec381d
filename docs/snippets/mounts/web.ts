import assert from 'node:assert/strict'

// #region web
import { server } from './server.ts'

export async function answer(request: Request): Promise<Response> {
  const response = await server.handle(request) // undefined if no route matches
  return response ?? new Response('Not found', { status: 404 })
}
// #endregion

assert.equal((await answer(new Request('http://in.process/elsewhere'))).status, 404)
assert.equal((await answer(new Request('http://in.process/threads'))).status, 200)
