/** What each project of `agentwire create` has: everything that it needs, and nothing that was not chosen. */
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import packageJson from '../../../package.json' with { type: 'json' }
import { type Choices, exampleReader } from '../../../src/cli/create/choices.ts'
import { type ProjectFiles, projectOf } from '../../../src/cli/create/project.ts'
import { ALL, nameOf } from './templates.ts'

const read = exampleReader()
const PROJECTS = ALL.map((choices) => ({
  choices,
  name: nameOf(choices),
  files: projectOf({ name: 'project' }, choices, read),
}))

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

const manifestOf = (files: ProjectFiles): Manifest => JSON.parse(files.get('package.json')!)

/** What is wrong in any of them. */
const wrongIn = (find: (files: ProjectFiles, choices: Choices) => Iterable<string>): readonly string[] =>
  PROJECTS.flatMap(({ name, files, choices }) => [...find(files, choices)].map((what) => `${name}: ${what}`))

const importsOf = (text: string): readonly string[] =>
  [...text.matchAll(/(?:from |import\(|import )'([^']+)'/g)].map(([, name]) => name!)

const packageOf = (name: string): string => name.split('/', name.startsWith('@') ? 2 : 1).join('/')

const isCode = (path: string): boolean => /\.(?:tsx?|mjs)$/.test(path)

/** The files that a program loads, from those that it begins with. */
function loadedFrom(files: ProjectFiles, begin: readonly string[]): ReadonlySet<string> {
  const loaded = new Set<string>()
  const load = (path: string) => {
    if (loaded.has(path) || !files.has(path)) return
    loaded.add(path)
    for (const name of importsOf(files.get(path)!))
      if (name.startsWith('.')) load(posix.join(posix.dirname(path), name))
  }
  for (const path of begin) load(path)
  return loaded
}

/** What others than the project's own files load. */
const beginsOf = (files: ProjectFiles): readonly string[] =>
  [...files.keys()].filter((path) =>
    /^(?:server\.ts|agents\.test\.ts|page\/main\.tsx|next\.(?:config\.)?mjs|app\/.*)$/.test(path),
  )

/** Packages that no file imports, and what needs them. */
const NEEDED_BY: Readonly<Record<string, (imported: ReadonlySet<string>, choices: Choices) => boolean>> = {
  tsx: () => true,
  typescript: () => true,
  '@types/node': () => true,
  '@types/express': (imported) => imported.has('express'),
  '@types/react': (imported, { framework }) => imported.has('react') || framework === 'next',
  '@types/react-dom': (imported) => imported.has('react-dom'),
  '@langchain/core': (imported) => imported.has('@langchain/react'),
  react: (_, { framework }) => framework === 'next',
  'react-dom': (_, { framework }) => framework === 'next',
  libsql: (_, { storage }) => storage === 'sqlite',
  pg: (_, { storage }) => storage === 'postgres',
  redis: (_, { storage }) => storage === 'redis',
}

test('every file that is imported is there, and every file is used', () => {
  const wrong = wrongIn(function* (files) {
    const loaded = loadedFrom(files, beginsOf(files))
    for (const [path, text] of files) {
      if (!isCode(path)) continue
      if (!loaded.has(path) && path !== 'page/css.d.ts') yield `nothing loads ${path}`
      if (/#(?:end)?region/.test(text)) yield `${path} has a region`
      for (const name of importsOf(text))
        if (name.startsWith('.') && !files.has(posix.join(posix.dirname(path), name)))
          yield `${path} imports ${name}, which is not there`
    }
  })
  expect(wrong).toEqual([])
})

test('every package that is imported is installed, and every package is needed', () => {
  const wrong = wrongIn(function* (files, choices) {
    const { dependencies, devDependencies } = manifestOf(files)
    const installed = new Set(Object.keys({ ...dependencies, ...devDependencies }))
    const codes = [...files].filter(([path]) => isCode(path))
    const imported = new Set(
      codes
        .flatMap(([, text]) => importsOf(text))
        .filter((name) => !/^(?:\.|node:)/.test(name))
        .map(packageOf),
    )
    for (const name of imported) if (!installed.has(name)) yield `${name} is not installed`
    for (const name of installed)
      if (!imported.has(name) && !NEEDED_BY[name]?.(imported, choices)) yield `nothing needs ${name}`
    for (const name of Object.keys(dependencies)) if (name in devDependencies) yield `${name} is there twice`
  })
  expect(wrong).toEqual([])
})

test('a build in production finds its packages, and has no other', () => {
  const wrong = wrongIn(function* (files, { framework, storage }) {
    if (framework === 'next') return
    const { dependencies } = manifestOf(files)
    // The page is compiled with esbuild in development only.
    const needed = [...loadedFrom(files, ['server.ts'])]
      .flatMap((path) => importsOf(files.get(path)!))
      .filter((name) => !/^(?:\.|node:)/.test(name) && name !== 'esbuild')
      .map(packageOf)
    const clients = { memory: [], sqlite: ['libsql'], postgres: ['pg'], redis: ['redis'] }[storage]
    const expected = [...new Set([...needed, ...clients])].sort()
    const found = Object.keys(dependencies).sort()
    if (found.join() !== expected.join()) yield `installs ${found} for production, needs ${expected}`
  })
  expect(wrong).toEqual([])
})

test('a file speaks only of what was chosen', () => {
  const wrong = wrongIn(function* (files, { framework, storage, model, auth, page }) {
    const texts: readonly (readonly [boolean, RegExp])[] = [
      [framework === 'next', /\bnext\.mjs|\.next\b|next-env/],
      [framework !== 'next', /\bserver\.ts\b|(?<!next\/)\bdist\b|env\.development/],
      [storage === 'sqlite', /\/data\b|agents\.db|\*\.db|libsql/],
      [storage === 'postgres', /\bpg\b|postgres:/],
      [storage === 'redis', /redis:/],
      [storage !== 'memory', /STORAGE_URL/],
      [model === 'openai', /OPENAI_(?:API_KEY|MODEL)/],
      [model === 'anthropic', /ANTHROPIC/],
      [model === 'google', /GEMINI/],
      [auth, /AGENT_USERS|auth\.ts/],
      [page, /page\/|\.tsx\b|markdown-to-jsx|esbuild/],
    ]
    for (const [path, text] of files)
      for (const [isChosen, pattern] of texts)
        if (!isChosen && path !== 'tsconfig.json' && pattern.test(text))
          yield `${path} has ${pattern.exec(text)![0]}`
  })
  expect(wrong).toEqual([])
})

test('.env has each variable that is read, and no other; .env.example has no password', () => {
  const wrong = wrongIn(function* (files, { auth }) {
    const code = [...files].filter(([path]) => isCode(path) && path !== 'agents.test.ts')
    const variables = new Set(
      code.flatMap(([, text]) => [
        ...[...text.matchAll(/process\.env\.(\w+)/g)].map(([, name]) => name!),
        ...[...text.matchAll(/const \{ ([^}]*) \} = (?:process\.env|\{ \.\.\.file, \.\.\.env \})/g)].flatMap(
          ([, names]) => names!.split(', ').map((name) => name.split(' ')[0]!),
        ),
      ]),
    )
    const env = files.get('.env')!
    const named = new Set([...env.matchAll(/^(?:# )?([A-Z_]+)=/gm)].map(([, name]) => name!))
    for (const name of named) if (!variables.has(name)) yield `nothing reads ${name}`
    for (const name of variables)
      if (!named.has(name) && !['NODE_ENV', 'GEMINI_BASE_URL'].includes(name))
        yield `.env does not have ${name}`
    if (!/^PORT=3000$/m.test(env)) yield '.env has no port'
    const example = files.get('.env.example')!
    if (example !== env.replace(/^AGENT_USERS=.*/m, 'AGENT_USERS=')) yield '.env.example differs from .env'
    if (auth && !/^AGENT_USERS=ada:\S{16}$/m.test(env)) yield '.env has no password'
    if (!/^\.env$/m.test(files.get('.gitignore')!)) yield '.env is not ignored'
    if (!/^\.env$/m.test(files.get('.dockerignore')!)) yield '.env is not ignored by Docker'
  })
  expect(wrong).toEqual([])
})

test('the README names the files that are there, and how to develop, run and change them', () => {
  const wrong = wrongIn(function* (files) {
    const readme = files.get('README.md')!
    for (const title of ['Development', 'Production', 'What to change first', 'Files'])
      if (!readme.includes(`\n## ${title}\n`)) yield `README.md has no ${title}`
    const named = [...readme.matchAll(/`([\w./[\]-]+\.(?:tsx?|mjs|css|json|env|example|development))`/g)]
    for (const [, path] of named) if (!files.has(path!)) yield `README.md names ${path}`
    const { scripts } = manifestOf(files)
    for (const [, script] of readme.matchAll(/npm (?:run )?(dev|test|types|build|start)\b/g))
      if (!(script! in scripts)) yield `README.md names the script ${script}`
    for (const name of ['dev', 'build', 'start', 'test', 'types'])
      if (!readme.includes(`npm ${name === 'start' ? '' : 'run '}${name}`)) yield `README.md lacks ${name}`
  })
  expect(wrong).toEqual([])
})

test('production is plain Node, and its image starts the same', () => {
  const wrong = wrongIn(function* (files, { framework }) {
    const { start } = manifestOf(files).scripts
    if (/tsx/.test(start!)) yield 'start needs tsx'
    const [, command] = /^CMD (.*)$/m.exec(files.get('Dockerfile')!)!
    if (JSON.parse(command!).join(' ') !== start!.replace('--env-file-if-exists=.env ', ''))
      yield `the image starts ${command}, not ${start}`
    if (framework !== 'next' && !start!.includes('--env-file-if-exists=.env'))
      yield 'start does not read .env'
  })
  expect(wrong).toEqual([])
})

test('langgraph.json names what is exported', () => {
  const wrong = wrongIn(function* (files, choices) {
    const { graphs, auth } = JSON.parse(files.get('langgraph.json')!)
    const named: string[] = auth ? [graphs.assistant, auth.path] : [graphs.assistant]
    for (const one of named) {
      const [path, name] = one.split(':') as [string, string]
      if (
        !new RegExp(`^export (?:const|function) ${name}\\b`, 'm').test(files.get(posix.normalize(path)) ?? '')
      )
        yield `langgraph.json names ${one}`
    }
    if ((auth === undefined) === choices.auth) yield 'langgraph.json has the wrong auth'
  })
  expect(wrong).toEqual([])
})

test('the agent is at most twelve lines, and the script that stands for its model at most twenty', () => {
  expect(read('start/assistant.ts').trimEnd().split('\n').length).toBeLessThanOrEqual(12)
  expect(read('start/offline.ts').trimEnd().split('\n').length).toBeLessThanOrEqual(20)
})

test('projects install the versions that are tested here', () => {
  const tested: Readonly<Record<string, string>> = packageJson.devDependencies
  for (const folder of ['start', 'next', 'hono', 'express', 'fastify', 'node']) {
    const { dependencies, devDependencies = {} } = JSON.parse(read(`${folder}/package.json`))
    for (const [name, version] of Object.entries<string>({ ...dependencies, ...devDependencies }))
      if (name !== 'agentwire') expect([folder, name, version]).toEqual([folder, name, `^${tested[name]}`])
  }
})
