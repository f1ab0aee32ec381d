import type { AdapterTarget } from '../../../src/audit/index.ts'
import { targets } from '../../conformance/targets/index.ts'

const NAMES = ['node-http', 'express4', 'express4-json', 'express5-json', 'fastify', 'hono-node']

/** Clients are driven against these targets: every framework over HTTP/1.1, with its body parser where it has one. */
export const chosen: readonly AdapterTarget[] = NAMES.map((name) => {
  const found = targets.find((target) => target.name === name)
  if (!found) throw new Error(`There is no target ${name}.`)
  return found
})
