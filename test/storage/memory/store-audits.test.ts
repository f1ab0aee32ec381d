import { describe, test, vi } from 'vitest'
import { storeAudits } from '../../../src/audit/store.ts'
import { memoryStore } from '../../../src/storage/memory/store.ts'

// The audit of a listener that throws makes the store report it.
vi.spyOn(console, 'error').mockImplementation(() => {})

describe('memoryStore with a clock the audits move', () => {
  let time = 1_700_000_000_000
  const advance = (ms: number) => {
    time += ms
  }
  const audits = storeAudits({ create: () => memoryStore({ now: () => time }), advance, sequences: 60 })
  for (const { id, name, fn } of audits) test(`${id}: ${name}`, fn)
})

describe('memoryStore by the real clock', () => {
  for (const { id, name, fn } of storeAudits({ create: () => memoryStore(), sequences: 5 })) {
    test(`${id}: ${name}`, fn)
  }
})
