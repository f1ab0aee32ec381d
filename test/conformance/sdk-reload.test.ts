import { describe, test } from 'vitest'
import { reloads } from '../threads/sdk/reloads.ts'
import { chosen } from '../threads/sdk/targets.ts'
import { unharmed } from './unharmed.ts'

describe.each(chosen)('$name', (target) => {
  test.each(Object.entries(reloads))('%s', (_, scenario) => unharmed(() => scenario(target)))
})
