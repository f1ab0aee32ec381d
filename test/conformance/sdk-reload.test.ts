import { describe, test } from 'vitest'
import { reloads } from '../protocol/sdk/reloads.ts'
import { chosen } from '../protocol/sdk/targets.ts'
import { unharmed } from './unharmed.ts'

describe.each(chosen)('$name', (target) => {
  test.each(Object.entries(reloads))('%s', (_, scenario) => unharmed(() => scenario(target)))
})
