import assert from 'node:assert/strict'
import { agents } from './kit/agents.ts'

process.env.DEVTOOLS_PASSWORD = 'secret'
const fromBearerToken = (request: Request) =>
  request.headers.get('authorization') === 'Bearer token' ? { id: 'ada', role: 'operator' } : null

// #region authenticate
const authenticate = (request: Request) => {
  if (!new URL(request.url).pathname.includes('/devtools')) return fromBearerToken(request)
  const given = request.headers.get('authorization') ?? ''
  if (given === `Basic ${btoa(`dev:${process.env.DEVTOOLS_PASSWORD}`)}`) return { id: 'dev', tenant: 'acme' }
  return new Response('Sign in.', { status: 401, headers: { 'www-authenticate': 'Basic realm="devtools"' } })
}
// #endregion

// #region on
import { createAgentServer } from 'agentwire'

const server = createAgentServer({ agents, devtools: true })
// #endregion

// #region alone
import { createDevtoolsHandler } from 'agentwire/devtools'

const devtools = createDevtoolsHandler({ engine: server.engine, authenticate })
// #endregion

// #region operator
const watched = createAgentServer({
  agents,
  authenticate: fromBearerToken,
  devtools: { isOperator: (principal) => principal?.role === 'operator' },
})
// #endregion

const threads = (headers: Record<string, string> = {}) =>
  new Request('http://in.process/devtools/api/threads', { headers })
assert.equal((await server.fetch(threads())).status, 200)
assert.equal((await watched.fetch(threads())).status, 401)
assert.equal((await watched.fetch(threads({ authorization: 'Bearer token' }))).status, 200)
assert.equal((await devtools.fetch(threads())).status, 401)
assert.equal((await devtools.fetch(threads({ authorization: `Basic ${btoa('dev:secret')}` }))).status, 200)
await devtools.close()
await watched.close()
await server.close()
