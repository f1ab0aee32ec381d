import type { AdapterTarget } from '../../../src/audit/index.ts'
import { express } from './express.ts'
import { fastify } from './fastify.ts'
import { inProcess } from './fetch.ts'
import { hono } from './hono.ts'
import { http2 } from './http2.ts'
import { node } from './node.ts'

/** Every adapter that can run in this process. */
export const targets: readonly AdapterTarget[] = [inProcess, node, http2, ...express, ...fastify, hono]
