import cors from '@fastify/cors'
import createFastify from 'fastify'
import { toFastify } from '../../../adapters/fastify.ts'
import type { AdapterTarget } from '../../../src/audit/index.ts'
import { connect } from '../connect.ts'
import { allBut, everything } from './capabilities.ts'

function target(name: string, withCors: boolean): AdapterTarget {
  return {
    name,
    // `@fastify/cors` answers every OPTIONS at the root itself.
    can: withCors ? allBut('options') : everything,
    connect,
    async start(handler, { mount, trustProxy = false, headers = {} }) {
      // When it closes, Fastify ends idle connections once and waits for those that become idle later.
      const app = createFastify({ trustProxy, keepAliveTimeout: 500 })
      if (withCors) await app.register(cors)
      app.addHook('onRequest', async (_request, reply) => {
        reply.headers(headers)
      })
      await app.register(toFastify(handler, { onError() {} }), mount ? { prefix: mount } : {})
      app.get(`${mount ?? ''}/host`, () => 'host')
      const origin = await app.listen({ port: 0, host: '127.0.0.1' })
      return { origin, close: () => app.close() }
    },
  }
}

export const fastify = [target('fastify', false), target('fastify-cors', true)]
