import { describe, test, vi } from 'vitest'
import { checkpointerAudits } from '../../../src/audit/checkpointer.ts'
import { storeAudits } from '../../../src/audit/store.ts'
import { sqliteStorage } from '../../../src/storage/sqlite.ts'
import { temporaryFiles } from './file.ts'

// The audit of a bell that throws makes the store report it.
vi.spyOn(console, 'error').mockImplementation(() => {})

const file = temporaryFiles()

describe('sqliteStorage, all handles on one file', () => {
  const url = `file:${file()}`
  const audits = storeAudits({ create: () => sqliteStorage({ url }).store, reopens: true, sequences: 40 })
  for (const { id, name, fn } of audits) test(`${id}: ${name}`, fn)
  for (const { id, name, fn } of checkpointerAudits({ create: () => sqliteStorage({ url }) })) {
    test(`${id}: ${name}`, fn)
  }
})
