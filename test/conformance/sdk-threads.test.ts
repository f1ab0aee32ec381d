import { describe, test } from 'vitest'
import { chosen } from '../threads/sdk/targets.ts'
import { threads } from '../threads/sdk/threads.ts'
import { unharmed } from './unharmed.ts'

describe.each(chosen)('$name', (target) => {
  test.each(Object.entries(threads))('%s', (_, scenario) => unharmed(() => scenario(target)))
})
