import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const text = (...path: readonly string[]): string => readFileSync(join(root, ...path), 'utf8')

test('the nightly run names each durability test that otherwise runs on one database, and so do the guides', () => {
  const files = readdirSync(join(root, 'test/durability')).filter((file) => file.endsWith('.test.ts'))
  const names = files.flatMap((file) => {
    const [, name] = /oneOf\('\w+', '(\w+)'\)/.exec(text('test/durability', file)) ?? []
    if (name !== undefined) expect(file).toBe(`${name}.test.ts`)
    return name ?? []
  })
  const [, listed] = /DURABILITY_ALL: (.*)/.exec(text('.github/workflows/nightly.yml'))!
  expect(listed!.split(',')).toEqual(names.sort())
  expect(text('docs/durability.md')).toContain(`\`${listed}\``)
  for (const name of names) expect(text('test/README.md')).toContain(`\`${name}\``)
})
