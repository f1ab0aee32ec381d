import { describe, test } from 'vitest'
import { type AdapterTarget, adapterAudits } from '../../src/audit/index.ts'
import { unharmed } from './unharmed.ts'

/** Makes a test of every audit that applies to a target. */
export function audit(target: AdapterTarget): void {
  describe(target.name, () => {
    for (const { id, name, fn } of adapterAudits(target)) test(`${id}: ${name}`, () => unharmed(fn))
  })
}
