import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Terminal } from '../terminal.ts'

/** The choices for a new project. The first of each list is the default. */
export const CHOICES = {
  framework: ['hono', 'express', 'fastify', 'next', 'node'],
  storage: ['sqlite', 'memory', 'postgres', 'redis'],
  model: ['scripted', 'openai', 'anthropic', 'google'],
} as const

export type Choice = keyof typeof CHOICES

export type Choices = { readonly [Name in Choice]: (typeof CHOICES)[Name][number] } & {
  /** Whether users sign in. */
  readonly auth: boolean
  /** Whether it has a chat page. */
  readonly page: boolean
}

/** What a question says about each answer. */
export const ABOUT: { readonly [Name in Choice]: Readonly<Record<Choices[Name], string>> } = {
  framework: {
    hono: 'Hono',
    express: 'Express',
    fastify: 'Fastify',
    next: 'Next.js',
    node: 'node:http, without a framework',
  },
  storage: {
    sqlite: 'a file in the project',
    memory: 'this process: a restart loses all threads',
    postgres: 'a Postgres database',
    redis: 'a Redis server',
  },
  model: {
    scripted: 'a script in place of a model: needs no key and no network',
    openai: 'OpenAI',
    anthropic: 'Claude',
    google: 'Gemini',
  },
}

/** The package with the client of each database. */
export const CLIENTS: Readonly<Record<Choices['storage'], readonly string[]>> = {
  memory: [],
  sqlite: ['libsql'],
  postgres: ['pg'],
  redis: ['redis'],
}

/** The environment variable with the key of each provider. Without it, a script answers. */
export const KEYS: Readonly<Record<Choices['model'], string | undefined>> = {
  scripted: undefined,
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GEMINI_API_KEY',
}

/** Reads files of the examples, which are part of the package. */
export function exampleReader(): (path: string) => string {
  const folder = join(packageFolder(dirname(fileURLToPath(import.meta.url))), 'examples')
  return (path) => readFileSync(join(folder, path), 'utf8')
}

/** The folder of this package above a folder of its code. Sources are deeper in the package than the build. */
export function packageFolder(from: string): string {
  if (existsSync(join(from, 'examples', 'start'))) return from
  const above = dirname(from)
  if (above === from)
    throw new Error('agentwire: the package is not complete: it has no folder examples/start.')
  return packageFolder(above)
}

export type Manager = 'npm' | 'pnpm' | 'yarn' | 'bun'

/** The package manager that runs this command, otherwise npm. */
export function managerOf({ env }: Terminal): Manager {
  const [, name] = /^(pnpm|yarn|bun)\//.exec(env.npm_config_user_agent ?? '') ?? []
  return (name ?? 'npm') as Manager
}

/** Installs a project's packages. Returns whether it worked. */
export async function install(
  folder: string,
  manager: Manager,
  { out, problem }: Terminal,
): Promise<boolean> {
  const args = ['install', ...(manager === 'npm' ? ['--no-audit', '--no-fund'] : [])]
  out(`Running ${manager} install…`)
  // On Windows, package managers are scripts for its shell.
  const shell = process.platform === 'win32'
  const child = spawn(manager, args, { cwd: folder, stdio: 'inherit', shell })
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('exit', resolve)
  })
  if (code !== 0) problem(`${manager} install failed. Run it again in the folder.`)
  return code === 0
}
