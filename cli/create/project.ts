import { randomBytes } from 'node:crypto'
import { VERSION } from '../../src/version.ts'
import type { Choices } from './choices.ts'
import { adapt, type Template } from './template.ts'

/** A project's files by path. */
export type ProjectFiles = ReadonlyMap<string, string>

/** Creates a project from the examples. `read` returns the text of an example's file. */
export function projectOf(name: string, choices: Choices, read: (path: string) => string): ProjectFiles {
  const template: Template = { choices, read }
  const files = new Map<string, string>()
  for (const [to, from] of sourcesOf(choices)) files.set(to, adapt(template, from, to))
  if (choices.framework === 'next' && !choices.page) files.set('app/route.ts', NEXT_ROOT)
  if (choices.framework !== 'next') files.set('.env.development', 'NODE_ENV=development\n')
  files.set('package.json', json(packageOf(name, choices, read)))
  files.set('tsconfig.json', json(tsconfigOf(choices)))
  files.set('langgraph.json', json(langgraphOf(choices)))
  files.set('README.md', readmeOf(name, choices))
  files.set('.env', envOf(choices))
  files.set('.gitignore', 'node_modules\n.env\n.next\nnext-env.d.ts\n*.tsbuildinfo\n*.db\n*.db-*\n')
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
  const provider = PROVIDERS[model]
  const same = (folder: string, names: readonly string[]) =>
    names.map((name) => [name, `${folder}/${name}`] as const)
  const inFolder = (folder: string, names: readonly string[]) =>
    names.map((name) => [`${folder}/${name}`, `${folder}/${name}`] as const)
  return [
    ...same(
      isNext ? 'next' : framework,
      isNext ? ['agents.ts', 'next.config.ts', 'app/agents/[[...path]]/route.ts'] : ['server.ts'],
    ),
    ...(isNext ? [] : same('start', ['agents.ts'])),
    ...same(provider ?? 'start', ['assistant.ts', 'tools.ts']),
    ['storage.ts', `start/storage/${storage}.ts`],
    ...(auth ? same('start', ['auth.ts']) : []),
    ...(page ? same('start', ['page/chat.tsx', 'page/question.tsx', 'page/page.css', 'page/css.d.ts']) : []),
    ...(page && !isNext ? same('start', ['page.ts', 'page/main.tsx']) : []),
    ...(page && isNext ? same('next', ['app/layout.tsx', 'app/page.tsx']) : []),
    ...same('start', ['agents.test.ts']),
    ...inFolder('offline', [
      'openai.ts',
      'script.ts',
      ...(provider ? ['create-provider.ts', 'listen.ts'] : []),
    ]),
  ]
}

/** The folder of the example with the assistant. Gemini also speaks OpenAI's protocol. */
const PROVIDERS: Readonly<Record<Choices['model'], string | undefined>> = {
  scripted: undefined,
  openai: 'openai',
  anthropic: 'anthropic',
  google: 'openai',
}

const STORAGE_CLIENTS: Readonly<Record<Choices['storage'], readonly string[]>> = {
  memory: [],
  sqlite: ['libsql'],
  postgres: ['pg'],
  redis: ['redis'],
}

const STORAGE_URLS: Readonly<Record<Choices['storage'], string | undefined>> = {
  memory: undefined,
  sqlite: 'file:agents.db',
  postgres: 'postgres://postgres@127.0.0.1:5432/agents',
  redis: 'redis://127.0.0.1:6379',
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

function packageOf(name: string, choices: Choices, read: (path: string) => string) {
  const { framework, storage, model, page } = choices
  const isNext = framework === 'next'
  const provider = PROVIDERS[model]
  const manifestOf = (folder: string): Manifest => JSON.parse(read(`${folder}/package.json`))
  const start = manifestOf('start')
  // An example has a client that a project does not need.
  const { '@langchain/langgraph-sdk': sdk, tsx, ...ofFramework } = manifestOf(framework).dependencies
  const { '@langchain/langgraph-sdk': _, ...ofModel } = provider ? manifestOf(provider).dependencies : {}
  const ofPage = ['@langchain/core', '@langchain/langgraph-sdk', '@langchain/react', 'react', 'react-dom']
  const needed = [
    ...STORAGE_CLIENTS[storage],
    'tsx',
    ...(page ? ofPage : isNext ? ['react', 'react-dom'] : []),
    ...(page && !isNext ? ['esbuild'] : []),
  ]
  const dependencies = {
    ...ofFramework,
    ...ofModel,
    ...Object.fromEntries(needed.map((one) => [one, start.dependencies[one]!])),
    agentwire: `^${VERSION}`,
  }
  const types = {
    ...start.devDependencies,
    ...(framework === 'express' && { '@types/express': '^5.0.0' }),
  }
  return {
    name,
    private: true,
    type: 'module',
    scripts: {
      ...(isNext ? NEXT_SCRIPTS : nodeScripts(choices)),
      test: 'tsx --test agents.test.ts',
      types: 'tsc --noEmit',
    },
    dependencies: sorted(dependencies),
    devDependencies: sorted(types),
  }
}

/** The page is bundled and not imported, so it is watched by its own option. */
const nodeScripts = ({ page }: Choices) => ({
  dev: `tsx watch ${page ? '--include "page/*" ' : ''}--env-file-if-exists=.env --env-file=.env.development server.ts`,
  start: 'tsx --env-file-if-exists=.env server.ts',
})

/** Without a page, the root leads to the agents. */
const NEXT_ROOT = `import { redirect } from 'next/navigation'

export const GET = () => redirect('/agents')
`

const NEXT_SCRIPTS = {
  // Without an address Next listens on all of them.
  dev: 'next dev -H 127.0.0.1',
  build: 'next build',
  start: 'next start -H 127.0.0.1',
}

const tsconfigOf = ({ framework }: Choices) => ({
  compilerOptions: {
    target: 'ES2022',
    lib: ['ES2023', 'DOM', 'DOM.Iterable'],
    module: 'ESNext',
    moduleResolution: 'Bundler',
    jsx: 'react-jsx',
    strict: true,
    noUncheckedIndexedAccess: true,
    noUnusedLocals: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    resolveJsonModule: true,
    isolatedModules: true,
    skipLibCheck: true,
    noEmit: true,
    ...(framework === 'next' && {
      plugins: [{ name: 'next' }],
      allowJs: true,
      esModuleInterop: true,
      incremental: true,
    }),
  },
  include: [
    '**/*.ts',
    '**/*.tsx',
    ...(framework === 'next' ? ['.next/types/**/*.ts', '.next/dev/types/**/*.ts'] : []),
  ],
  exclude: ['node_modules'],
})

/** The agents for `agentwire dev`, `agentwire deploy` and other tools that read this file. */
const langgraphOf = ({ auth }: Choices) => ({
  graphs: { assistant: './assistant.ts:assistant' },
  env: '.env',
  ...(auth && { auth: { path: './auth.ts:authenticate' } }),
})

/** The environment variables of each model's provider. */
const MODEL_ENV: Readonly<Record<Choices['model'], string>> = {
  scripted: '',
  openai: 'OPENAI_API_KEY=\n# OPENAI_MODEL=gpt-5-mini\n',
  anthropic: 'ANTHROPIC_API_KEY=\n# ANTHROPIC_MODEL=claude-sonnet-4-6\n',
  google: `# Gemini, over Google's endpoint for clients of OpenAI.
OPENAI_API_KEY=
OPENAI_BASE_URL=https://generativelanguage.googleapis.com/v1beta/openai/
OPENAI_MODEL=gemini-2.5-flash
`,
}

function envOf({ storage, auth, model }: Choices): string {
  const url = STORAGE_URLS[storage]
  return [
    'PORT=3000\n',
    url === undefined ? '' : `STORAGE_URL=${url}\n`,
    auth ? `# Names and passwords.\nAGENT_USERS=ada:${randomBytes(12).toString('base64url')}\n` : '',
    MODEL_ENV[model],
  ].join('')
}

function readmeOf(name: string, { framework, auth, model, page }: Choices): string {
  const place = framework === 'next' ? '`app/agents/[[...path]]/route.ts` mounts' : '`server.ts` mounts'
  return `# ${name}

\`\`\`sh
npm install
npm run dev     # ${page ? 'the page at http://localhost:3000, ' : ''}agents at http://localhost:3000/agents
npm test        # without a key or network access
npm run types
\`\`\`

The devtools at http://localhost:3000/agents/devtools show each thread and run, and let you call the agent.

\`npx agentwire deploy\` deploys the agent to a control plane. It does not upload \`.env\`: pass each variable that the agent needs as \`--secret NAME=VALUE\`.

| file | contents |
|---|---|
| \`assistant.ts\`, \`tools.ts\` | the agent${model === 'scripted' ? ': a script in place of a model' : ''} |
| \`agents.ts\` | the server of your agents. ${place} it below \`/agents\` |
| \`storage.ts\` | where threads are stored |
${auth ? '| `auth.ts` | authentication: the users and passwords in `AGENT_USERS` in `.env` |\n' : ''}${page ? '| `page/` | the chat |\n' : ''}| \`offline/\` | ${model === 'scripted' ? 'the script' : 'replaces the provider in tests'} |
| \`langgraph.json\` | the agents that \`npx agentwire deploy\` deploys |
${framework === 'next' ? '' : '| `.env.development` | for `npm run dev` alone: clients see the text of errors, and the devtools are on |\n'}| \`.env\` | settings${model === 'scripted' ? '' : ', such as the API key of the provider'}; do not commit it |

The guides of agentwire are in \`node_modules/agentwire/docs\`.
`
}

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`

const sorted = (record: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
