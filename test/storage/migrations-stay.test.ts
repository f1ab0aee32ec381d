import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { migrations as postgres } from '../../src/storage/postgres/migrate.ts'
import { createNames } from '../../src/storage/postgres/names.ts'
import { migrations as sqlite } from '../../src/storage/sqlite/migrate.ts'

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

/** Add to these lists. What a release has run on databases is changed by a migration of its own. */
const SQLITE = ['be7c24be3896eb80']
const POSTGRES = ['e5952720886d1b24']

test('what a number stands for never changes', () => {
  const names = createNames('public', 'agentwire_')
  const of = (texts: readonly string[], known: readonly string[]) => texts.slice(0, known.length).map(hash)
  expect(
    of(
      sqlite.map((text) => text('agentwire_')),
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
