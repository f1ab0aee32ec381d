import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { entries, root } from './package.ts'

/** The names that a file of declarations exports. */
function namesOf(file: string): readonly string[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest)
  return source.statements
    .flatMap((statement) =>
      ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause)
        ? statement.exportClause.elements.map(({ name }) => name.text)
        : [],
    )
    .sort()
}

/** What is public is decided, and not by accident. Where a change is meant, `npx vitest run test/package/public-names -u` writes the list anew. */
test('every entry exports the names that it did', async () => {
  const lists = entries.map(({ specifier, files }) => {
    // Those of ESM name those of CommonJS.
    const names = namesOf(join(root, files.cjs.types))
    expect(names.length, specifier).toBeGreaterThan(0)
    return [specifier, ...names.map((name) => `  ${name}`)].join('\n')
  })
  await expect(`${lists.join('\n')}\n`).toMatchFileSnapshot('public-names.txt')
})

test('authors of protocols find what they need among 90 names', () => {
  const { files } = entries.find(({ specifier }) => specifier === 'agentwire/face')!
  expect(namesOf(join(root, files.cjs.types)).length).toBeLessThanOrEqual(90)
})
