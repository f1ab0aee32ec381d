import { posix } from 'node:path'
import { type Choices, CLIENTS, KEYS, type Manager } from './choices.ts'

export interface Template {
  readonly choices: Choices
  /** Returns the text of a file in the examples. */
  readonly read: (path: string) => string
}

/**
 * An example file as a project file: without the regions that the project does not use, with imports of its
 * sibling files, and without unused imports.
 */
export function adapt({ choices, read }: Template, from: string, to: string): string {
  const text = read(from)
  if (to === 'next.config.mjs') return withChosenClients(text, choices)
  if (!/\.tsx?$/.test(from)) return text
  const isServer = to === 'server.ts'
  const kept = regions(text, regionsOf(choices, isServer))
  const withAuth = choices.auth ? kept : kept.replace(/^.*\bauthenticate\b.*\n/gm, '')
  const own = isServer ? serverOf(withAuth, choices) : withAuth
  return withoutUnused(ownPaths(to === 'agents.test.ts' ? withKeyOf(choices, own) : own, from, to))
}

/** The test takes the key of the chosen provider away. */
const withKeyOf = ({ model }: Choices, text: string): string =>
  text.replace(KEYS.openai!, KEYS[model] ?? KEYS.openai!)

/** Next.js does not bundle the clients of databases. */
const withChosenClients = (text: string, { storage }: Choices): string =>
  text.replace(/\[[^[\]]*\]/, `[${['agentwire', ...CLIENTS[storage]].map((name) => `'${name}'`).join(', ')}]`)

/** The page of a project without one. */
const LINK = `$1const page = '<!doctype html><title>Agents</title><a href="/agents">Agents</a>'\n`

/** The names of the regions to keep. */
const regionsOf = ({ auth, page, model }: Choices, isServer: boolean): ReadonlySet<string> =>
  new Set([
    ...(auth ? ['auth'] : []),
    ...(page || isServer ? ['page'] : []),
    ...(model === 'scripted' ? [] : ['provider']),
  ])

const REGION = /^ *\/\/ #region (\w+)\n([\s\S]*?)^ *\/\/ #endregion\n/gm

const regions = (text: string, kept: ReadonlySet<string>): string =>
  text
    .replace(REGION, (_, name: string, inside: string) => (kept.has(name) ? inside : ''))
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()
    .concat('\n')

/** A framework's server takes its agents and its page from sibling files, and closes the storage with the agents. */
function serverOf(text: string, { page }: Choices): string {
  const adapted = text
    .replace(/^( *)const page = .*\n/m, page ? '' : LINK)
    .replace('await server.close()', 'await close()')
    .replace('() => app.close()) // closes the agents first', '() => app.close().then(close))')
  const last = adapted.lastIndexOf('\nimport ')
  const end = adapted.indexOf('\n', last + 1) + 1
  const own = [
    "import { close, server } from './agents.ts'",
    ...(page ? ["import { page } from './page.ts'"] : []),
  ]
  return `${adapted.slice(0, end)}${own.join('\n')}\n${adapted.slice(end)}`
}

/** Files in folders of other examples become files of the project. */
function ownPaths(text: string, from: string, to: string): string {
  const folder = posix.dirname(from)
  return text.replace(/(from |import\(|import )'(\.[^']+)'/g, (_, keyword: string, path: string) => {
    const target = placeOf(posix.join(folder, path))
    const relative = posix.relative(posix.dirname(to), target)
    return `${keyword}'${relative.startsWith('.') ? relative : `./${relative}`}'`
  })
}

/** Where an example file is placed in a project. */
const placeOf = (path: string): string =>
  path.replace(/^start\/(storage|model)\/\w+\.ts$/, 'start/$1.ts').replace(/^[^/]+\//, '')

const IMPORT = /^import (?:(\w+)(?:, )?)?(?:\{ ([^}]*) \} )?from '[^']+'\n/gm

/** Removes the names of unused imports. */
function withoutUnused(text: string): string {
  const code = text.replace(IMPORT, '')
  const isUsed = (name: string) => new RegExp(`\\b${name}\\b`).test(code)
  return text.replace(IMPORT, (line, whole: string | undefined, names: string | undefined) => {
    if (names === undefined) return line
    const used = names.split(', ').filter((name) => isUsed(name.replace(/^(?:type |.* as )/, '')))
    if (used.length > 0) return line.replace(`{ ${names} }`, `{ ${used.join(', ')} }`)
    return whole === undefined ? '' : line.replace(/, \{[^}]*\}/, '')
  })
}

/** An image with the build and the packages that it needs. */
export function dockerfileOf({ framework, storage }: Choices, manager: Manager): string {
  const isNext = framework === 'next'
  const built = isNext ? ['.next', 'next.config.mjs', 'next.mjs'] : ['dist']
  const start = isNext ? ['node', 'next.mjs', 'start'] : ['node', 'dist/server.js']
  // Only npm's lock file is for npm, which is what the image has.
  const [files, install] =
    manager === 'npm' ? ['package.json package-lock.json', 'npm ci'] : ['package.json', 'npm install']
  return `FROM node:22-slim AS build
WORKDIR /app
COPY ${files} ./
RUN ${install}
COPY . .
RUN npm run build && ${isNext ? 'rm -rf .next/cache && ' : ''}npm prune --omit=dev

FROM node:22-slim
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
${storage === 'sqlite' ? SQLITE : ''}COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
${built.map((path) => `COPY --from=build ${isNext ? '--chown=node ' : ''}/app/${path} ./${path}\n`).join('')}USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \\
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/agents/ok').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ${JSON.stringify(start).replaceAll(',', ', ')}
`
}

const SQLITE = `ENV STORAGE_URL=file:/data/agents.db
RUN mkdir /data && chown node /data
VOLUME /data
`

export const dockerignoreOf = ({ framework, storage }: Choices): string =>
  [
    'node_modules',
    '.git',
    '.env',
    framework === 'next' ? '.next' : 'dist',
    ...(storage === 'sqlite' ? ['*.db', '*.db-*'] : []),
    '',
  ].join('\n')
