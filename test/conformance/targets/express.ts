import { createServer, type RequestListener } from 'node:http'
import compression from 'compression'
import express5 from 'express'
import express4 from 'express4'
import { toExpress } from '../../../adapters/express.ts'
import { acceptSockets } from '../../../adapters/node.ts'
import type { AdapterCapability, AdapterTarget } from '../../../src/audit/index.ts'
import { openServer } from '../../kit/listen.ts'
import { connect } from '../connect.ts'
import { allBut, everything } from './capabilities.ts'

type Express = typeof express4

function target(
  name: string,
  express: Express,
  can: AdapterCapability[],
  ...before: unknown[]
): AdapterTarget {
  return {
    name,
    can,
    connect,
    async start(handler, { mount, trustProxy, headers = {} }) {
      const app = express()
      if (trustProxy) app.set('trust proxy', true)
      for (const middleware of before) app.use(middleware)
      app.use((_req: unknown, res: { set(headers: object): void }, next: () => void) => {
        res.set(headers)
        next()
      })
      const adapter = toExpress(handler, { onError() {} })
      if (mount) app.use(mount, adapter)
      else app.use(adapter)
      app.get(`${mount ?? ''}/host`, (_req: unknown, res: { send(text: string): void }) => res.send('host'))
      const server = createServer(app as RequestListener)
      acceptSockets(server, handler, { basePath: mount, trustProxy, onError() {} })
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
}

// A parser before the adapter has limits of its own, and turns a missing body into `{}`.
const parsed = allBut('own-bodies')

export const express = [
  target('express4', express4, everything),
  target('express4-json', express4, parsed, express4.json()),
  target('express5', express5, everything),
  target('express5-json', express5, parsed, express5.json()),
  target('express5-compression', express5, allBut('length'), compression({ threshold: 0 })),
]
