import { expect, test } from 'vitest'
import { requirements } from '../../src/audit/adapter.ts'
import { adapterAudits } from '../../src/audit/index.ts'
import { targets } from './targets/index.ts'

// `collected.test.ts` runs the audits that need `collect`.
const audited = new Set(
  targets.flatMap((target) => adapterAudits({ ...target, collect() {} }).map(({ id }) => id)),
)

test('every requirement is audited on a target', () => {
  expect(Object.keys(requirements).filter((id) => !audited.has(id))).toEqual([])
})

test('every audit belongs to a requirement', () => {
  expect([...audited].filter((id) => !(id in requirements))).toEqual([])
})

test('every requirement says what must hold and names its source', () => {
  for (const { behaviour, source } of Object.values(requirements)) {
    expect(behaviour).toMatch(/^[`A-Z].+[^.]$/)
    expect(new URL(source).protocol).toBe('https:')
  }
})
