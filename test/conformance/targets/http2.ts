import { createServer } from 'node:http2'
import { toNode } from '../../../adapters/node.ts'
import type { AdapterTarget } from '../../../src/audit/index.ts'
import { openServer } from '../../kit/listen.ts'
import { createHttp2Fetch } from '../http2-fetch.ts'
import { allBut } from './capabilities.ts'

export const http2: AdapterTarget = {
  name: 'node-http2',
  can: allBut('mount', 'fall-through', 'host-headers'),
  async start(handler, { trustProxy }) {
    const { origin, close } = await openServer(createServer(toNode(handler, { trustProxy, onError() {} })))
    const client = createHttp2Fetch(origin)
    return {
      origin,
      fetch: client.fetch,
      async close() {
        await handler.close()
        client.close()
        await close()
      },
    }
  },
}
