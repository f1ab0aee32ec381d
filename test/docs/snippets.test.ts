import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../kit/listen.ts'
import { hasPostgres, sharedPostgres } from '../kit/postgres-server.ts'
import { programs, typescript } from '../kit/program.ts'
import { root } from '../package/package.ts'
import { filled, pages, read, unmarked, withoutFence } from './fences.ts'

/** The whole files of pages that only a test runner or a place of their own runs. */
const UNMARKED: Readonly<Record<string, number>> = { 'docs/audits.md': 4, 'docs/control-plane.md': 3 }

/** tsx takes the sources that `fast-json-patch` publishes for the package, and they are incomplete. */
const NOT_FOR_TSX = 'ag-ui/client.ts'

const NEEDS_POSTGRES = new Set(['instance.ts', 'postgres.ts', 'retention.ts', 'saver.ts'])

const DATABASE = "'postgres://localhost/agents'"

/** Copies of the snippets whose servers listen on free ports, because those of the pages may be in use. */
const copies = `.tmp/docs-snippets-${process.pid}`
const start = programs()

beforeAll(() => {
  mkdirSync(join(root, copies), { recursive: true })
  cpSync(join(root, 'docs/snippets'), join(root, copies), { recursive: true })
  symlinkSync(join(root, 'docs/node_modules'), join(root, copies, 'node_modules'))
})
afterAll(() => rmSync(join(root, copies), { recursive: true, force: true }))

/** The path of the copy of a snippet, with another port than that of the page, and the database of the tests. */
function withPorts(name: string, port: RegExp, other: string): string {
  writeFileSync(
    join(root, copies, name),
    read(`docs/snippets/${name}`).replace(port, other).replace(DATABASE, 'process.env.DATABASE_URL'),
  )
  return `${copies}/${name}`
}

test('the code of every page is that of the files which its marks name', () => {
  for (const path of pages) {
    const page = read(path)
    expect(page, `npm run docs:snippets writes the code of ${path}.`).toBe(filled(page))
    expect(page, 'What a snippet needs for its test is outside of its regions.').not.toMatch(
      /from '\.+\/kit\//,
    )
  }
})

test('every mark of a page stands above a fence', () => {
  expect(pages.flatMap((path) => withoutFence(read(path)))).toEqual([])
  expect(withoutFence('<!-- snippet: a.ts#b -->\n\nText')).toEqual(['a.ts#b'])
})

test('every TypeScript of a page is marked with its file, but for whole files that need a test runner or a cluster', () => {
  const counts = pages.map((path) => [path, unmarked(read(path)).length] as const)
  expect(Object.fromEntries(counts.filter(([, count]) => count > 0))).toEqual(UNMARKED)
})

test('every snippet is used by a page', () => {
  const marks = pages.flatMap((path) =>
    [...read(path).matchAll(/<!-- snippet: (\S+) -->/g)].map(([, mark]) => mark!),
  )
  const regions = readdirSync(join(root, 'docs/snippets'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .flatMap((path) =>
      [...read(`docs/snippets/${path}`).matchAll(/\/\/ #region (\S+)/g)].map(
        ([, name]) => `docs/snippets/${path.replaceAll('\\', '/')}#${name}`,
      ),
    )
  expect(regions.length).toBeGreaterThan(40)
  expect(regions.filter((region) => !marks.includes(region))).toEqual([])
})

test('every snippet runs, holds what it asserts, and leaves nothing open', { timeout: 300_000 }, async () => {
  const withPostgres = hasPostgres()
  const names = readdirSync(join(root, 'docs/snippets'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/^(kit|start)\//.test(name))
    .toSorted()
  const files = names.filter((name) => name !== NOT_FOR_TSX && (withPostgres || !NEEDS_POSTGRES.has(name)))
  const port = /(?<=\b(?:port: |listen\())[1-9]\d+/g
  // Pages serve nothing, and JSX is compiled as the project says in its own folders only.
  const paths = files.map((name) =>
    join(root, name.endsWith('.tsx') ? `docs/snippets/${name}` : withPorts(name, port, '0')),
  )
  const env = { ...process.env, ...(withPostgres && { DATABASE_URL: await sharedPostgres() }) }
  const program = start('node', [...typescript('test/docs/run-snippets.ts'), ...paths], env)
  expect(await program.exit, program.text()).toBe(0)
  expect([...program.text().matchAll(/^ran (.+)$/gm)].map(([, path]) => path)).toEqual(paths)
})

test('the client of AG-UI runs, and holds what it asserts', { timeout: 240_000 }, async () => {
  const { agent } = await import(`../../docs/snippets/${NOT_FOR_TSX}`)
  expect(agent.messages).toHaveLength(2)
})

test('the client of the README chats with its server, and exits', { timeout: 240_000 }, async () => {
  const port = await freePort()
  const server = start('node', typescript(withPorts('start/server.ts', /3000/, `${port}`)))
  // Nobody signs in, and that is said before anyone has called.
  await server.output(/listens on .+\nagentwire: no `authenticate` option/)
  const client = start('node', typescript(withPorts('start/client.ts', /3000/, `${port}`)))
  expect(await client.exit, client.text()).toBe(0)
  expect(client.text()).toBe('Hello there\n')
})
