import { access, constants, readFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import type { SourceConfig } from '../../records/records.ts'
import type { LogLevel } from '../deployer.ts'
import { DeployError } from '../errors.ts'
import { runCommand } from '../run-command.ts'
import { splitCommand } from './command-line.ts'
import { isThere } from './dirs.ts'

export interface BuildOptions {
  /** The root of the source. */
  readonly folder: string
  /** The langgraph.json, from the folder. */
  readonly configPath: string
  /** Default: what the lock file asks for, where there is anything to install. */
  readonly installCommand?: string | null | undefined
  /** Default: nothing is built. */
  readonly buildCommand?: string | null | undefined
  /** The whole environment of both commands. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  readonly log: (line: string, level?: LogLevel) => void
}

/**
 * Installs and builds a source where it lies: `installCommand` runs in the root, `buildCommand` in the folder of the langgraph.json. Rejects
 * with a `DeployError` where a command cannot be run or fails. Without commands and dependencies it starts no process.
 */
export async function buildSource(options: BuildOptions): Promise<void> {
  const { folder, configPath, installCommand, buildCommand } = options
  const configFolder = dirname(join(folder, configPath))
  if (installCommand) await run('install', splitCommand(installCommand), folder, options)
  else
    for (const place of new Set([folder, configFolder])) {
      const command = await defaultInstall(place)
      if (command !== undefined)
        await run('install', await available(command, place, options.env), place, options)
    }
  if (buildCommand) await run('build', splitCommand(buildCommand), configFolder, options)
}

/** Why the commands of a request cannot be run, in a sentence for the client. */
export function refuseCommands({ install_command, build_command }: SourceConfig): string | undefined {
  try {
    for (const command of [install_command, build_command]) if (command) splitCommand(command)
    return undefined
  } catch (error) {
    return (error as DeployError).message
  }
}

/** Keeps package managers from asking questions and from calling home. */
const QUIET = {
  CI: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
}

async function run(
  step: 'install' | 'build',
  command: readonly [string, ...string[]],
  cwd: string,
  { env, signal, log }: BuildOptions,
): Promise<void> {
  log(`> ${command.join(' ')}`)
  const ended = await runCommand({
    command,
    cwd,
    env: { ...QUIET, ...env },
    signal,
    onLine: (line) => log(line),
  })
  if (ended.code === 0) return
  const how = ended.code === null ? `was ended by ${ended.signal}` : `failed with exit code ${ended.code}`
  throw new DeployError(`${step} ${how}: see the build log`)
}

/** Lock files, and what installs exactly what they say. */
const BY_LOCK_FILE: readonly (readonly [string, readonly [string, ...string[]]])[] = [
  ['package-lock.json', ['npm', 'ci']],
  ['npm-shrinkwrap.json', ['npm', 'ci']],
  ['pnpm-lock.yaml', ['pnpm', 'install', '--frozen-lockfile']],
  ['bun.lock', ['bun', 'install', '--frozen-lockfile']],
  ['bun.lockb', ['bun', 'install', '--frozen-lockfile']],
]

/** Undefined where a folder has no package.json, no dependencies, or brings its node_modules. */
async function defaultInstall(folder: string): Promise<readonly [string, ...string[]] | undefined> {
  if (!(await has(folder, 'package.json')) || (await has(folder, 'node_modules'))) return undefined
  if (!(await hasDependencies(join(folder, 'package.json')))) return undefined
  for (const [lockFile, command] of BY_LOCK_FILE) if (await has(folder, lockFile)) return command
  if (await has(folder, 'yarn.lock'))
    // The settings file is that of Yarn 2 and later, which names the option differently.
    return ['yarn', 'install', (await has(folder, '.yarnrc.yml')) ? '--immutable' : '--frozen-lockfile']
  return ['npm', 'install']
}

/**
 * The same command by npx, where this machine has no such program: in the version that `packageManager` of the package.json names, else in
 * one that reads the lock file.
 */
async function available(
  command: readonly [string, ...string[]],
  folder: string,
  { PATH = '' }: BuildOptions['env'],
): Promise<readonly [string, ...string[]]> {
  const [program, ...args] = command
  if (program !== 'yarn' && program !== 'pnpm') return command
  const places = PATH.split(delimiter).map((place) => access(join(place, program), constants.X_OK))
  if ((await Promise.allSettled(places)).some(({ status }) => status === 'fulfilled')) return command
  const { packageManager } = await manifestOf(join(folder, 'package.json'))
  const [, named] = /^(?:yarn|pnpm)@([\w.-]+)/.exec(String(packageManager)) ?? []
  const version = named ?? (await versionFor(program, folder))
  // Yarn 2 and later are published under another name.
  const isLaterYarn = program === 'yarn' && !/^1\b/.test(version)
  const name = isLaterYarn ? '@yarnpkg/cli-dist' : program
  return ['npx', '--yes', '--package', `${name}@${version}`, '--', program, ...args]
}

/** The newest release that reads the lock file as it is. */
async function versionFor(program: 'yarn' | 'pnpm', folder: string): Promise<string> {
  if (program === 'yarn') return (await has(folder, '.yarnrc.yml')) ? '4' : '1'
  const [, format] =
    /^lockfileVersion: '?(\d+)/.exec(await readFile(join(folder, 'pnpm-lock.yaml'), 'utf8')) ?? []
  return format === '5' ? '7' : format === '6' ? '8' : '10'
}

async function manifestOf(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return { ...JSON.parse(await readFile(file, 'utf8')) }
  } catch (error) {
    throw new DeployError('The package.json of the source is not JSON.', { cause: error })
  }
}

const has = (folder: string, name: string): Promise<boolean> => isThere(join(folder, name))

async function hasDependencies(file: string): Promise<boolean> {
  const fields = await manifestOf(file)
  return ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies', 'workspaces'].some(
    (name) => Object.keys(Object(fields[name])).length > 0,
  )
}
