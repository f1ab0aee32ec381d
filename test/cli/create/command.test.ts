import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import ts from 'typescript'
import { afterAll, describe, expect, test } from 'vitest'
import { exampleReader } from '../../../src/cli/create/choices.ts'
import { projectOf } from '../../../src/cli/create/project.ts'
import { run } from '../../../src/cli/run.ts'
import { askLine, Canceled } from '../../../src/cli/terminal.ts'
import { programs } from '../../kit/program.ts'
import { root } from '../../package/package.ts'
import { write } from '../projects.ts'
import { ALL, COVERING, nameOf } from './templates.ts'

const start = programs()
const read = exampleReader()
/** Inside of this project, so that projects find its packages. */
const folder = join(root, '.tmp', `create-${process.pid}`)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What a command line prints, and its exit code. */
async function create(args: readonly string[], answers?: readonly string[]) {
  const printed: string[] = []
  const left = [...(answers ?? [])]
  const code = await run(['create', ...args], {
    env: {},
    out: (text) => printed.push(text),
    problem: (text) => printed.push(text),
    ...(answers && { ask: async () => left.shift() ?? '' }),
  })
  return { code, text: printed.join('\n') }
}

test('every project type-checks', () => {
  const files = new Map<string, string>()
  for (const choices of COVERING) {
    const name = nameOf(choices)
    for (const [path, text] of projectOf({ name }, choices, read))
      if (/\.tsx?$/.test(path)) files.set(join(folder, name, path), text)
  }
  expect(problemsOf(files)).toEqual([])
})

/** What the compiler finds in files that are not written anywhere, with the packages of this project. */
function problemsOf(files: ReadonlyMap<string, string>): readonly string[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const options: ts.CompilerOptions = {
    ...ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, noUnusedLocals: true }, root).options,
  }
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  const folders = new Set([...files.keys()].map((path) => dirname(path)))
  const parsed = new Map<string, ts.SourceFile>()
  Object.assign(host, {
    fileExists: (path: string) => files.has(path) || fileExists(path),
    readFile: (path: string) => files.get(path) ?? readFile(path),
    directoryExists: (path: string) => folders.has(path) || ts.sys.directoryExists(path),
    getSourceFile(path: string, languageVersion: ts.ScriptTarget) {
      const text = files.get(path)
      if (text === undefined) return getSourceFile.call(host, path, languageVersion)
      const source = ts.createSourceFile(path, text, languageVersion)
      parsed.set(path, source)
      return source
    },
  } satisfies Partial<ts.CompilerHost>)
  const program = ts.createProgram(
    [...files.keys(), join(root, 'test/conformance/untyped.d.ts')],
    options,
    host,
  )
  return [...parsed.values()]
    .flatMap((source) => [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ])
    .map(
      ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    )
}

/** Projects find the sources of this package by its tsconfig. */
const env = { ...process.env, TSX_TSCONFIG_PATH: join(root, 'tsconfig.json'), PORT: '0' }

test('the langgraph.json of a project is served with the authentication of the project', async () => {
  const place = join(folder, 'deployed')
  const choices = COVERING.find(({ auth, model }) => auth && model === 'scripted')!
  write(place, Object.fromEntries(projectOf({ name: 'deployed' }, choices, read)))
  const args = ['serve', '--config', join(place, 'langgraph.json'), '--port', '0', '--json']
  const served = start(
    process.execPath,
    ['--import', 'tsx', join(root, 'src/cli/main.ts'), ...args],
    { ...env, AGENT_USERS: 'ada:secret', STORAGE_URL: 'memory:' },
    place,
  )
  const [line] = /^\{.*\}$/m.exec(await served.output(/^\{.*\}$/m))!
  const told = JSON.parse(line)
  expect(told).toMatchObject({ agents: ['assistant'], auth: true, failed: [], warnings: [] })
  const statusOf = async (headers?: Record<string, string>) =>
    (await fetch(`${told.url}/threads`, { method: 'POST', body: '{}', headers })).status
  expect(await statusOf()).toBe(401)
  expect(await statusOf({ authorization: `Basic ${btoa('ada:secret')}` })).toBe(200)
})

describe('the command', () => {
  test('asks what is not given, takes numbers and names, and asks again for what is neither', async () => {
    const place = join(folder, 'asked')
    const { code, text } = await create(
      [place, '--no-install', '--framework', 'node'],
      ['9', '3', 'open', 'maybe', 'y', 'n'],
    )
    expect([code, text]).toEqual([0, expect.stringContaining('node, postgres, openai, sign-in, no page')])
    expect(text).not.toContain('Which framework?')
    expect(existsSync(join(place, 'page.ts'))).toBe(false)
    expect(readFileSync(join(place, '.env'), 'utf8')).toMatch(
      /STORAGE_URL=postgres:.*\n[\s\S]*AGENT_USERS=ada:\S{16}\n/,
    )
    expect(statSync(join(place, '.env')).mode & 0o777).toBe(0o600)
  })

  test('asks for a folder until one is empty; a folder with only .git counts as empty', async () => {
    const full = join(folder, 'asked-full')
    const empty = join(folder, 'asked empty')
    write(full, { 'a.txt': 'mine' })
    mkdirSync(join(empty, '.git'), { recursive: true })
    const { code, text } = await create(['--no-install'], [full, join(full, 'a.txt'), empty])
    expect([code, text.match(/is not an empty folder/g)]).toEqual([0, expect.objectContaining({ length: 2 })])
    expect(text).toContain(`  cd "${empty}"\n`)
    expect(readdirSync(empty)).toContain('server.ts')
  })

  test('is canceled at a question, before it writes anything', async () => {
    const place = join(folder, 'canceled')
    const printed: string[] = []
    const code = await run(['create', place], {
      env: {},
      out: () => {},
      problem: (text) => printed.push(text),
      ask: async () => {
        throw new Canceled()
      },
    })
    expect([code, printed, existsSync(place)]).toEqual([130, ['\nCanceled. Nothing was changed.'], false])
  })

  test.each(['\u0003', '\u0004'])('%j at a question cancels it', async (key) => {
    const input = new PassThrough()
    const asked = askLine('Which? ', input, new PassThrough())
    input.write(key)
    await expect(asked).rejects.toBeInstanceOf(Canceled)
  })

  test('a package manager that fails ends it with 1; the one that runs the command is used', async () => {
    const place = join(folder, 'uninstalled')
    const printed: string[] = []
    const print = (text: string) => printed.push(text)
    const path = process.env.PATH
    process.env.PATH = join(folder, 'no-programs')
    try {
      const env = { npm_config_user_agent: 'pnpm/10.0.0 npm/? node/v20.20.0 linux x64' }
      expect(await run(['create', place, '--yes'], { env, out: print, problem: print })).toBe(1)
    } finally {
      process.env.PATH = path
    }
    expect(printed.join('\n')).toMatch(
      /Running pnpm install…\npnpm install failed\.[\s\S]* {2}pnpm install\n {2}pnpm run dev\n/,
    )
  })

  test('asks nothing with --yes, and says what to do next', async () => {
    const place = join(folder, 'yes')
    const { code, text } = await create([place, '--yes', '--no-install'], [])
    expect([code, text]).toEqual([
      0,
      expect.stringMatching(/hono, sqlite, scripted, no sign-in, a page[\s\S]*npm run dev/),
    ])
    expect(readdirSync(place)).toContain('server.ts')
  })

  test('writes into no folder that has files, and refuses what it does not know', async () => {
    mkdirSync(join(folder, 'full'), { recursive: true })
    write(join(folder, 'full'), { 'a.txt': 'mine' })
    expect(await create([join(folder, 'full'), '--yes'])).toEqual({
      code: 2,
      text: expect.stringContaining('is not an empty folder'),
    })
    const wrong = await create([join(folder, 'wrong'), '--framework', 'koa'])
    expect(wrong).toEqual({
      code: 2,
      text: expect.stringContaining('--framework must be one of hono, express, fastify, next, node'),
    })
    expect((await create(['x', '--page', '--no-page'])).code).toBe(2)
    expect(existsSync(join(folder, 'wrong'))).toBe(false)
  })

  test('is in what npm would publish', () => {
    const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
    })
    const [{ files }] = JSON.parse(packed) as [{ files: { path: string }[] }]
    const paths = new Set(files.map(({ path }) => path))
    const missing = new Set<string>()
    const known = (path: string): string => {
      if (!paths.has(`examples/${path}`)) missing.add(path)
      return read(path)
    }
    for (const choices of ALL) projectOf({ name: 'all' }, choices, known)
    expect([...missing]).toEqual([])
  })
})
