import { describe, test } from 'vitest'
import { chosen } from '../protocol/sdk/targets.ts'
import { threads } from '../protocol/sdk/threads.ts'
import { unharmed } from './unharmed.ts'

describe.each(chosen)('$name', (target) => {
  test.each(Object.entries(threads))('%s', (_, scenario) => unharmed(() => scenario(target)))
})
