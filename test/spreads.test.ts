import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

/**
 * A list spread into the arguments of a call is put on the stack: about 120,000 items, which fit into one
 * body, throw `RangeError`. These functions are called with lists, and have another way: a loop, or `reduce`.
 */
const OF_LISTS = new Set([
  'push',
  'unshift',
  'splice',
  'toSpliced',
  'concat',
  'min',
  'max',
  'hypot',
  'fromCharCode',
  'fromCodePoint',
  'assign',
])

/** Lists whose length no client chooses, and what bounds it. */
const BOUNDED: Readonly<Record<string, string>> = {
  'src/cli/create/create.ts max': 'the choices of a question',
  'src/cli/deploy/manage.ts max': 'the rows that a terminal is shown',
  'src/cli/serve/log.ts assign': 'what one call of the log is given',
  'src/engine/assistants/record.ts assign': 'an assistant, its thread and a request',
  'src/control-plane/api/authentication/authentication.ts assign': 'the ways to authenticate',
  'src/models/formats/reading/base64.ts fromCharCode': '8,192 bytes at a time',
  'src/storage/graph-store/vectors.ts fromCharCode': '8,192 bytes at a time',
  'src/core/http/handler.ts max': 'the mount paths of a server',
  'src/storage/jobs/runner.ts min': 'the kinds of jobs',
  'src/faces/openai/ids.ts fromCharCode': 'an id of up to 512 characters',
  'src/core/options.ts assign': 'the tables of options',
  'src/faces/rest/runs/config.ts assign': 'an assistant, its thread and a request',
  'src/engine/threads/lists.ts min': 'at most eight lists are counted',
  'src/storage/sql/checkpoints.ts push': 'the columns of a query',
  'src/storage/sql/list-documents.ts push': 'the columns of a query',
  'src/storage/store/cursor.ts fromCharCode': 'a cursor, whose parts have limits',
}

/** What a file has that spreads into such a call. */
const MAY_SPREAD = [/\.\.\./, new RegExp(`\\b(?:${[...OF_LISTS].join('|')})\\b`)]

const WITHOUT_COMMENTS = {
  languageVersion: ts.ScriptTarget.ES2022,
  jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
}

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

test('no list that a client chooses the length of is spread into the arguments of a call', () => {
  const found = ['src', 'adapters'].flatMap(sourceFiles).flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    // Parsing a file takes a thousand times as long as looking for the names.
    return MAY_SPREAD.every((part) => part.test(text))
      ? spreadsOf(path, text).map((name) => `${path} ${name}`)
      : []
  })
  expect([...new Set(found)].sort()).toEqual(Object.keys(BOUNDED).sort())
})

test('the check notices what it forbids', () => {
  const text =
    'a.push(...b); Math.max(0, ...c); d.toSpliced(1, 2, ...e); f(...g); h.push(i); Object.assign({}, ...j)'
  expect(spreadsOf('made-up.ts', text)).toEqual(['push', 'max', 'toSpliced', 'assign'])
})

/** Audits choose their own lists. */
const sourceFiles = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((path) => !path.startsWith('src/audit/'))

function spreadsOf(path: string, text: string): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (
      ts.isCallExpression(node) &&
      ts.isPropertyAccessExpression(node.expression) &&
      OF_LISTS.has(node.expression.name.text) &&
      node.arguments.some(ts.isSpreadElement)
    )
      found.push(node.expression.name.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, WITHOUT_COMMENTS))
  return found
}
