import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { analyse } from 'scslre'
import ts from 'typescript'
import { expect, test } from 'vitest'

/**
 * Expressions that are made at run time, and what bounds their time. Whoever adds a row says why no client can
 * make its time grow faster than its text.
 */
const COMPUTED: Readonly<Record<string, string>> = {
  'src/cli/create/template.ts': "of the package's own template",
  'src/cli/serve/faces.ts': "a deployment file's names of headers, tried on names of headers (16 KiB)",
  'src/cli/serve/sections.ts': 'only tried for its syntax',
  'src/control-plane/auth/flows/begin.ts': 'two UUIDs of a fixed length',
  'src/control-plane/deployers/process/dirs.ts': "the server's own paths as alternatives of fixed texts",
  'src/control-plane/wire/lax.ts': 'the patterns of wire/, which are literals and checked there',
  'src/control-plane/secrets/mask.ts': 'alternatives of fixed texts',
  'src/core/http/cors.ts': "the operator's expression, tried on an Origin header (16 KiB)",
  'src/storage/checkpointer/serde.ts': 'restores a value of an agent, and tries nothing',
}

interface Expression {
  readonly path: string
  readonly place: string
  /** Undefined if it is made at run time. */
  readonly literal: { readonly source: string; readonly flags: string } | undefined
}

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const expressions = ['src', 'adapters'].flatMap(sourceFiles).flatMap(expressionsOf)

test('no regular expression takes more than linear time, whatever text it is tried on', () => {
  const slow = expressions.flatMap(({ place, literal }) =>
    literal ? reportsOf(literal).map((report) => `${place} /${literal.source}/: ${report}`) : [],
  )
  expect(slow).toEqual([])
})

test('expressions that are made at run time are listed, with the reason why they are harmless', () => {
  const computed = new Set(expressions.flatMap(({ path, literal }) => (literal ? [] : [path])))
  expect([...computed].sort()).toEqual(Object.keys(COMPUTED).sort())
})

test('the check notices polynomial and exponential expressions', () => {
  expect(expressions.length).toBeGreaterThan(300)
  for (const source of ['^\\d+\\.?\\d*$', '\\/+$', '^(a+)+$', '^data:([^;,]*)(;[^,]*)*;base64,'])
    expect(reportsOf({ source, flags: '' }), source).not.toEqual([])
  for (const source of ['^\\d+(?:\\.\\d*)?$', '(?<!\\/)\\/+$', '^a+$'])
    expect(reportsOf({ source, flags: '' }), source).toEqual([])
})

/** What grows faster than the text: repetitions that trade characters, and ones that are tried again at every start. */
const reportsOf = (literal: { readonly source: string; readonly flags: string }): string[] =>
  analyse(literal).reports.map(({ type, exponential }) => `${type}${exponential ? ', exponential' : ''}`)

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort()
}

function expressionsOf(path: string): Expression[] {
  const found: Expression[] = []
  const file = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), {
    languageVersion: ts.ScriptTarget.ES2022,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  })
  const placeOf = (node: ts.Node): string =>
    `${path}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}`
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      found.push({
        path,
        place: placeOf(node),
        literal: { source: node.text.slice(1, end), flags: node.text.slice(end + 1) },
      })
    }
    if (
      (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
      ts.isIdentifier(node.expression) &&
      node.expression.text === 'RegExp'
    )
      found.push({ path, place: placeOf(node), literal: undefined })
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}
