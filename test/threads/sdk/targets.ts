import type { AdapterTarget } from '../../../src/audit/index.ts'
import { targets } from '../../conformance/targets/index.ts'

/** The adapter of `npm test`, through which other versions of the clients are driven, too. */
const FIRST = 'node-http'
const OTHERS = ['express4', 'express4-json', 'express5-json', 'fastify', 'hono-node']
const NAMES = { one: [FIRST], others: OTHERS, all: [FIRST, ...OTHERS] }[process.env.ADAPTERS ?? 'all'] ?? []

/**
 * Clients are driven against these targets: every framework over HTTP/1.1, with its body parser where it has one, or those that
 * `ADAPTERS` chooses, as vitest.config.ts says.
 */
export const chosen: readonly AdapterTarget[] = NAMES.map((name) => {
  const found = targets.find((target) => target.name === name)
  if (!found) throw new Error(`There is no target ${name}.`)
  return found
})
