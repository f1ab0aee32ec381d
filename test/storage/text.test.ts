import fc from 'fast-check'
import Database from 'libsql'
import { expect, test } from 'vitest'
import { fromText, toText } from '../../src/storage/text.ts'

/** Any UTF-16, with what is special here more often than not. */
const unit = fc.oneof(
  fc.constantFrom(0, 1, 2, 0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xffff),
  fc.integer({ min: 0, max: 0xffff }),
)
const anyString = fc.array(unit, { maxLength: 8 }).map((units) => String.fromCharCode(...units))

test('any string comes back from SQLite as it was, and is ordered as JavaScript orders it', () => {
  const database = new Database(':memory:')
  const ask = database.prepare('SELECT ? AS a, ? < ? AS less')
  fc.assert(
    fc.property(anyString, anyString, (a, b) => {
      expect(fromText(toText(a))).toBe(a)
      const { a: kept, less } = ask.get([toText(a), toText(a), toText(b)]) as { a: string; less: number }
      expect(fromText(kept)).toBe(a)
      expect(less === 1).toBe(a < b)
    }),
    { numRuns: 1_000 },
  )
  database.close()
})

test('common ids stay as they are', () => {
  for (const id of ['', 'thread-1', '0190-äöü', '漢字']) expect(toText(id)).toBe(id)
})
