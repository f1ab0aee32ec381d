import { describe, test } from 'vitest'
import { functions } from '../threads/sdk/functions.ts'
import { chosen } from '../threads/sdk/targets.ts'
import { unharmed } from './unharmed.ts'

describe.each(chosen)('$name', (target) => {
  test.each(Object.entries(functions))('%s', (_, scenario) => unharmed(() => scenario(target)))
})
