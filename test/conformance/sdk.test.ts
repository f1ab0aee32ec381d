import { describe, expect, test } from 'vitest'
import { scenarios } from '../protocol/sdk/scenarios.ts'
import { targets } from './targets/index.ts'
import { unharmed } from './unharmed.ts'

/** LangGraph's SDK, as it is published, against the protocol through every adapter. */

const NAMES = ['node-http', 'express4', 'express4-json', 'express5-json', 'fastify', 'hono-node']
const chosen = targets.filter(({ name }) => NAMES.includes(name))

test('every adapter is there', () => {
  expect(chosen.map(({ name }) => name).sort()).toEqual([...NAMES].sort())
})

describe.each(chosen)('$name', (target) => {
  test.each(Object.entries(scenarios))('%s', (_, scenario) => unharmed(() => scenario(target)))
})
