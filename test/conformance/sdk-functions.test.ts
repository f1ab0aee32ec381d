import { describe, test } from 'vitest'
import { functions } from '../protocol/sdk/functions.ts'
import { chosen } from '../protocol/sdk/targets.ts'
import { unharmed } from './unharmed.ts'

describe.each(chosen)('$name', (target) => {
  test.each(Object.entries(functions))('%s', (_, scenario) => unharmed(() => scenario(target)))
})
