import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { migrations as postgres } from '../../src/storage/postgres/migrate.ts'
import { createNames } from '../../src/storage/postgres/names.ts'
import { migrations as sqlite } from '../../src/storage/sqlite/migrations.ts'

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

/** Add to these lists. What is in them has been run on databases, and a change of it is a migration of its own. */
const SQLITE = ['a123b10d49a0e217', '03095642076612de', '03095642076612de']
const POSTGRES = ['90eafa726b569886', '25babeff9864e6b9', 'b56ee24e09998cc4']

test('what a number stands for never changes', () => {
  const names = createNames('public', 'agentwire_')
  const of = (texts: readonly string[], known: readonly string[]) => texts.slice(0, known.length).map(hash)
  expect(
    of(
      sqlite.map((text) => text('agentwire_', () => false)),
      SQLITE,
    ),
  ).toEqual(SQLITE)
  expect(
    of(
      postgres.map((text) => text(names)),
      POSTGRES,
    ),
  ).toEqual(POSTGRES)
})
