import { describe, test } from 'vitest'
import { scenarios } from '../threads/sdk/scenarios.ts'
import { chosen } from '../threads/sdk/targets.ts'
import { unharmed } from './unharmed.ts'

/** These tests drive the protocol with LangGraph's published SDK through every adapter. */

describe.each(chosen)('$name', (target) => {
  test.each(Object.entries(scenarios))('%s', (_, scenario) => unharmed(() => scenario(target)))
})
