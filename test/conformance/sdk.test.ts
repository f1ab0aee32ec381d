import { describe, test } from 'vitest'
import { scenarios } from '../threads/sdk/scenarios.ts'
import { chosen } from '../threads/sdk/targets.ts'
import { unharmed } from './unharmed.ts'

/** LangGraph's SDK, as it is published, against the protocol through every adapter. */

describe.each(chosen)('$name', (target) => {
  test.each(Object.entries(scenarios))('%s', (_, scenario) => unharmed(() => scenario(target)))
})
