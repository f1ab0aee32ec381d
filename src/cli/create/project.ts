import { randomBytes } from 'node:crypto'
import { VERSION } from '../../core/version.ts'
import { type Choices, CLIENTS, KEYS, type Manager } from './choices.ts'
import { readmeOf } from './readme.ts'
import { adapt, dockerfileOf, dockerignoreOf, type Template } from './template.ts'

/** A project's files by path. */
export type ProjectFiles = ReadonlyMap<string, string>

interface Named {
  readonly name: string
  /** What installs the packages. Default: npm. */
  readonly manager?: Manager
}

/** Creates a project from the examples. `read` returns the text of an example's file. */
export function projectOf(
  { name, manager = 'npm' }: Named,
  choices: Choices,
  read: (path: string) => string,
): ProjectFiles {
  const template: Template = { choices, read }
  const files = new Map<string, string>()
  for (const [to, from] of sourcesOf(choices)) files.set(to, adapt(template, from, to))
  if (choices.framework === 'next') {
    if (!choices.page) files.set('app/route.ts', NEXT_ROOT)
  } else {
    files.set('.env.development', 'NODE_ENV=development\n')
    files.set('tsconfig.build.json', json(BUILD))
  }
  files.set('package.json', json(packageOf(name, choices, read)))
  files.set('tsconfig.json', json(tsconfigOf(choices)))
  files.set('langgraph.json', json(langgraphOf(choices)))
  files.set('README.md', readmeOf(name, choices, manager))
  files.set('.env', envOf(choices, `ada:${randomBytes(12).toString('base64url')}`))
  files.set('.env.example', envOf(choices, ''))
  files.set('.gitignore', gitignoreOf(choices))
  files.set('Dockerfile', dockerfileOf(choices, manager))
  files.set('.dockerignore', dockerignoreOf(choices))
  return files
}

/** The example file that each project file is made from. */
function sourcesOf({
  framework,
  storage,
  model,
  auth,
  page,
}: Choices): readonly (readonly [string, string])[] {
  const isNext = framework === 'next'
  const same = (folder: string, names: readonly string[]) =>
    names.map((name) => [name, `${folder}/${name}`] as const)
  return [
    ...(isNext
      ? same('next', ['agents.ts', 'next.config.mjs', 'next.mjs', 'app/agents/[[...path]]/route.ts'])
      : [...same(framework, ['server.ts']), ...same('start', ['agents.ts'])]),
    ...same('start', ['assistant.ts', 'tools.ts', 'offline.ts', 'agents.test.ts']),
    ['model.ts', `start/model/${model}.ts`],
    ['storage.ts', `start/storage/${storage}.ts`],
    ...(auth ? same('start', ['auth.ts']) : []),
    ...(page ? same('start', PAGE) : []),
    ...(page && !isNext ? same('start', ['page.ts', 'page/main.tsx']) : []),
    ...(page && isNext ? same('next', ['app/layout.tsx', 'app/page.tsx']) : []),
  ]
}

const PAGE = ['chat.tsx', 'answer.tsx', 'question.tsx', 'page.css', 'css.d.ts'].map((name) => `page/${name}`)

/** The package with the SDK of each provider. Gemini speaks OpenAI's API, too. */
const SDKS: Readonly<Record<Choices['model'], readonly string[]>> = {
  scripted: [],
  openai: ['openai'],
  anthropic: ['@anthropic-ai/sdk'],
  google: ['openai'],
}

/** The packages that the page imports, and those that they need beside them. */
const OF_PAGE = ['@langchain/core', '@langchain/react', 'markdown-to-jsx', 'react', 'react-dom']

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

function packageOf(name: string, choices: Choices, read: (path: string) => string) {
  const { framework, storage, model, page } = choices
  const isNext = framework === 'next'
  const manifestOf = (folder: string): Manifest => JSON.parse(read(`${folder}/package.json`))
  const { dependencies: versions, devDependencies: types = {} } = manifestOf('start')
  const pick = (names: readonly string[]) =>
    Object.fromEntries(names.map((one) => [one, versions[one] ?? types[one]!]))
  // An example has a client that a project does not need, and is not built.
  const { '@langchain/langgraph-sdk': _, tsx, ...ofFramework } = manifestOf(framework).dependencies
  const ofPage = page ? OF_PAGE : []
  return {
    name,
    private: true,
    type: 'module',
    engines: { node: '>=20.20' },
    scripts: {
      ...(isNext ? NEXT_SCRIPTS : nodeScripts(choices)),
      test: 'tsx --test agents.test.ts',
      types: 'tsc',
    },
    dependencies: sorted({
      ...ofFramework,
      ...pick([...CLIENTS[storage], ...SDKS[model], 'zod']),
      ...(isNext && pick(page ? ofPage : ['react', 'react-dom'])),
      agentwire: `^${VERSION}`,
    }),
    devDependencies: sorted({
      ...pick(['@types/node', 'tsx', 'typescript']),
      // A build has the page's packages in it.
      ...(page && !isNext && pick([...ofPage, 'esbuild', '@types/react', '@types/react-dom'])),
      ...(isNext && pick(['@types/react'])),
      ...(framework === 'express' && { '@types/express': '^5.0.0' }),
    }),
  }
}

const nodeScripts = ({ page }: Choices) => ({
  // The page is bundled and not imported, so it is watched by its own option.
  dev: `tsx watch ${page ? '--include "page/*" ' : ''}--env-file-if-exists=.env --env-file=.env.development server.ts`,
  build: `tsc -p tsconfig.build.json${page ? ' && esbuild page/main.tsx --bundle --minify --outdir=dist/page' : ''}`,
  start: 'node --env-file-if-exists=.env dist/server.js',
})

/** Without a page, the root leads to the agents. */
const NEXT_ROOT = `import { redirect } from 'next/navigation'

export const GET = () => redirect('/agents')
`

const NEXT_SCRIPTS = { dev: 'node next.mjs dev', build: 'next build', start: 'node next.mjs start' }

const tsconfigOf = ({ framework, page }: Choices) => {
  const isNext = framework === 'next'
  const hasJsx = isNext || page
  return {
    compilerOptions: {
      target: 'ES2022',
      lib: ['ES2023', ...(hasJsx ? ['DOM', 'DOM.Iterable'] : [])],
      // As Node resolves imports, which a bundler like Next.js does not have to.
      ...(isNext
        ? { module: 'ESNext', moduleResolution: 'Bundler', resolveJsonModule: true }
        : { module: 'NodeNext' }),
      ...(hasJsx && { jsx: 'react-jsx' }),
      strict: true,
      noUncheckedIndexedAccess: true,
      noUnusedLocals: true,
      verbatimModuleSyntax: true,
      allowImportingTsExtensions: true,
      isolatedModules: true,
      skipLibCheck: true,
      noEmit: true,
      ...(isNext && { plugins: [{ name: 'next' }], allowJs: true, esModuleInterop: true, incremental: true }),
    },
    include: [
      '**/*.ts',
      ...(hasJsx ? ['**/*.tsx'] : []),
      ...(isNext ? ['.next/types/**/*.ts', '.next/dev/types/**/*.ts'] : []),
    ],
    exclude: ['node_modules', ...(isNext ? [] : ['dist'])],
  }
}

/** What `npm run build` compiles: the server, and what it imports. */
const BUILD = {
  extends: './tsconfig.json',
  compilerOptions: { noEmit: false, outDir: 'dist', rootDir: '.', rewriteRelativeImportExtensions: true },
  include: [],
  files: ['server.ts'],
}

/** The agents for `agentwire dev`, `agentwire deploy` and other tools that read this file. */
const langgraphOf = ({ auth }: Choices) => ({
  graphs: { assistant: './assistant.ts:assistant' },
  env: '.env',
  ...(auth && { auth: { path: './auth.ts:authenticate' } }),
})

const gitignoreOf = ({ framework, storage }: Choices): string =>
  [
    'node_modules',
    '.env',
    ...(framework === 'next' ? ['.next', 'next-env.d.ts', '*.tsbuildinfo'] : ['dist']),
    ...(storage === 'sqlite' ? ['*.db', '*.db-*'] : []),
    '',
  ].join('\n')

const STORAGE_ENV: Readonly<Record<Choices['storage'], string>> = {
  memory: '',
  sqlite: '# STORAGE_URL=file:agents.db\n',
  postgres: 'STORAGE_URL=postgres://postgres@127.0.0.1:5432/agents\n',
  redis: 'STORAGE_URL=redis://127.0.0.1:6379\n',
}

/** The environment variables that `model.ts` reads beside the key. */
const MODEL_ENV: Readonly<Record<Choices['model'], string>> = {
  scripted: '',
  openai: '# OPENAI_MODEL=gpt-5-mini\n',
  anthropic: '# ANTHROPIC_MODEL=claude-sonnet-4-6\n',
  google: '# GEMINI_MODEL=gemini-2.5-flash\n',
}

function envOf({ storage, auth, model }: Choices, users: string): string {
  const key = KEYS[model]
  return [
    '# Variables of the environment come before those of this file.\n',
    'PORT=3000\n# HOST=0.0.0.0 listens on all addresses. Default: 127.0.0.1, which only this machine reaches.\n',
    STORAGE_ENV[storage],
    auth ? `# Names and passwords, such as ada:secret,bob:other.\nAGENT_USERS=${users}\n` : '',
    key === undefined ? '' : `# Without a key, the script of offline.ts answers.\n${key}=\n`,
    MODEL_ENV[model],
  ].join('')
}

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`

const sorted = (record: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
