import assert from 'node:assert/strict'
import { closeServers, origin } from '../kit/served.ts'

// #region hono
import { serve } from '@hono/node-server'
import { toHono } from 'agentwire/hono'
import { Hono } from 'hono'
import { server } from './server.ts'

const app = new Hono()
app.route('/agents', toHono(server))
serve({ fetch: app.fetch, port: 3000 }) // on Bun, Deno and Workers: export default app
// #endregion

assert.deepEqual(await (await fetch(`${await origin()}/agents/threads`)).json(), [])
closeServers()
