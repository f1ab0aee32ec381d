import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { toHono } from '../../../adapters/hono.ts'
import { acceptSockets } from '../../../adapters/node.ts'
import type { AdapterTarget } from '../../../src/audit/index.ts'
import { openServer } from '../../kit/listen.ts'
import { connect } from '../connect.ts'
import { allBut } from './capabilities.ts'

export const hono: AdapterTarget = {
  name: 'hono-node',
  // @hono/node-server writes the message of an error that breaks a stream into the body, and waits with a pipelined request
  // whose client has left.
  can: allBut('trust-proxy', 'broken-streams', 'pipelining'),
  connect,
  async start(handler, { mount, headers = {} }) {
    const app = new Hono()
    app.onError((_error, c) => c.text('Internal Server Error', 500))
    app.use(async (c, next) => {
      for (const [name, value] of Object.entries(headers)) c.res.headers.append(name, value)
      await next()
    })
    app.route(mount ?? '/', toHono(handler))
    app.get(`${mount ?? ''}/host`, (c) => c.text('host'))
    const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
    const server = createServer(listener)
    acceptSockets(server, handler, { basePath: mount, onError() {} })
    const { origin, close } = await openServer(server)
    return {
      origin,
      async close() {
        await handler.close()
        await close()
      },
    }
  },
}
