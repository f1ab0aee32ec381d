import { access, constants, readFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import type { SourceConfig } from '../../records/records.ts'
import { DeployError, type PhaseContext } from '../deployer.ts'
import { runCommand } from '../run-command.ts'
import { isThere } from './dirs.ts'
import { patternsIn, workspaceOf } from './workspaces.ts'

export interface BuildOptions extends Pick<PhaseContext, 'sourceConfig' | 'signal' | 'log'> {
  /** The root of the source. */
  readonly folder: string
  /** The langgraph.json, relative to the folder. */
  readonly configPath: string
  /** The complete environment of both commands. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * Installs and builds a source in its folder. `install_command` runs in the root (default: what the lock file
 * requires, if there are dependencies, and no second time in a package of the workspace of the root, where
 * names of the workspace's own packages would be asked of the registry), `build_command` in the folder of the langgraph.json (default:
 * nothing). Rejects with a `DeployError` if a command cannot be run or fails.
 */
export async function buildSource(options: BuildOptions): Promise<void> {
  const { folder, configPath, env } = options
  const { install_command, build_command } = options.sourceConfig
  const configFolder = dirname(join(folder, configPath))
  if (install_command) await run('install', splitCommand(install_command), folder, options)
  else {
    const isPackage = (await workspaceOf(configFolder)) === join(folder)
    for (const dir of isPackage ? [folder] : new Set([folder, configFolder])) {
      const command = await defaultInstall(dir)
      if (command) await run('install', await available(command, dir, env), dir, options)
    }
  }
  if (build_command) await run('build', splitCommand(build_command), configFolder, options)
}

/** Why a request's commands cannot be run, as a sentence for the client. */
export function refuseCommands({ install_command, build_command }: SourceConfig): string | undefined {
  try {
    for (const command of [install_command, build_command]) if (command) splitCommand(command)
    return undefined
  } catch (error) {
    return (error as DeployError).message
  }
}

/** Keeps package managers from asking questions and sending reports. */
const QUIET = {
  CI: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
  YARN_ENABLE_TELEMETRY: '0',
  // Node finds the packages of the server only in this form.
  YARN_NODE_LINKER: 'node-modules',
}

async function run(
  step: 'install' | 'build',
  command: Command,
  cwd: string,
  { env, signal, log }: BuildOptions,
): Promise<void> {
  log(`> ${command.join(' ')}`)
  const onLine = (line: string) => log(line)
  const ended = await runCommand({ command, cwd, env: { ...QUIET, ...env }, signal, onLine })
  if (ended.code === 0) return
  const how = ended.code === null ? `was ended by ${ended.signal}` : `failed with exit code ${ended.code}`
  throw new DeployError(`${step} ${how}: see the build log`)
}

/** Lock files, and the command that installs exactly their contents. */
const BY_LOCK_FILE: readonly (readonly [string, Command])[] = [
  ['package-lock.json', ['npm', 'ci']],
  ['npm-shrinkwrap.json', ['npm', 'ci']],
  ['pnpm-lock.yaml', ['pnpm', 'install', '--frozen-lockfile']],
  ['bun.lock', ['bun', 'install', '--frozen-lockfile']],
  ['bun.lockb', ['bun', 'install', '--frozen-lockfile']],
]

/** Undefined if a folder has no package.json, no dependencies, or its own node_modules. */
async function defaultInstall(folder: string): Promise<Command | undefined> {
  if (!(await has(folder, 'package.json')) || (await has(folder, 'node_modules'))) return undefined
  if (!(await hasDependencies(join(folder, 'package.json')))) return undefined
  for (const [lockFile, command] of BY_LOCK_FILE) if (await has(folder, lockFile)) return command
  if (await has(folder, 'yarn.lock'))
    return ['yarn', 'install', (await isLaterYarn(folder)) ? '--immutable' : '--frozen-lockfile']
  return ['npm', 'install']
}

/** Whether a lock file is of Yarn 2 or later, which names its options differently. */
const isLaterYarn = async (folder: string): Promise<boolean> =>
  (await has(folder, '.yarnrc.yml')) ||
  /^__metadata:/m.test(await readFile(join(folder, 'yarn.lock'), 'utf8').catch(() => ''))

/**
 * The same command with npx if this machine lacks the program, or has a Yarn of another kind: in the version of `packageManager` in
 * package.json, otherwise in one that reads the lock file.
 */
async function available(command: Command, folder: string, env: BuildOptions['env']): Promise<Command> {
  const { PATH = '' } = env
  const [program, ...args] = command
  if (program !== 'yarn' && program !== 'pnpm') return command
  const found = PATH.split(delimiter).map((dir) => access(join(dir, program), constants.X_OK))
  const isInstalled = (await Promise.allSettled(found)).some(({ status }) => status === 'fulfilled')
  if (isInstalled && (program === 'pnpm' || (await readsLock(folder, env)))) return command
  const { packageManager } = await manifestOf(join(folder, 'package.json'))
  const [, named] = /^(?:yarn|pnpm)@([\w.-]+)/.exec(String(packageManager)) ?? []
  const version = named ?? (await versionFor(program, folder))
  // Yarn 2 and later are published under another name.
  const name = program === 'yarn' && !/^1\b/.test(version) ? '@yarnpkg/cli-dist' : program
  return ['npx', '--yes', '--package', `${name}@${version}`, '--', program, ...args]
}

/** Whether this machine's Yarn is of the kind that wrote the lock file. In a project it may be another one. */
async function readsLock(folder: string, env: BuildOptions['env']): Promise<boolean> {
  const lines: string[] = []
  const onLine = (line: string) => void lines.push(line.trim())
  const { code } = await runCommand({ command: ['yarn', '--version'], cwd: folder, env, onLine })
  const major = Number.parseInt(lines.at(-1) ?? '', 10)
  return code === 0 && major >= 2 === (await isLaterYarn(folder))
}

/** The newest release that reads the lock file unchanged. */
async function versionFor(program: 'yarn' | 'pnpm', folder: string): Promise<string> {
  if (program === 'yarn') return (await isLaterYarn(folder)) ? '4' : '1'
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
  if ((await patternsIn(dirname(file))).length > 0) return true
  return ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'].some(
    (name) => Object.keys(Object(fields[name])).length > 0,
  )
}

type Command = readonly [program: string, ...args: string[]]

/**
 * Splits a command from the API into arguments, without a shell. White space separates; `'…'` and `"…"` keep
 * white space; a `\` escapes the next character, except in `'…'`, and in `"…"` only before `"` and `\`.
 * Syntax that needs a shell is rejected with a `DeployError`, instead of being passed as an argument.
 */
export function splitCommand(text: string): Command {
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!
    if (sign === "'" || sign === '"') {
      const quoted = readQuoted(text, at)
      word = (word ?? '') + quoted.text
      at = quoted.end
    } else if (sign === '\\' && at + 1 < text.length) word = (word ?? '') + text[++at]
    else if (sign === '\n' || /[&|;<>`$()\0]/.test(sign)) throw needsShell(text, sign)
    else if (/\s/.test(sign)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + sign
  }
  if (word !== undefined) words.push(word)
  const [program, ...args] = words
  if (program === undefined || program === '') throw new DeployError('The command is empty.')
  if (/^[A-Za-z_]\w*=/.test(program))
    throw new DeployError(
      `The command begins with ${JSON.stringify(program)}: it is not run by a shell. Set variables as secrets of the deployment.`,
    )
  return [program, ...args]
}

function readQuoted(text: string, from: number): { readonly text: string; readonly end: number } {
  const quote = text[from]!
  let read = ''
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === quote) return { text: read, end: at }
    const isEscape = quote === '"' && text[at] === '\\' && /["\\]/.test(text[at + 1] ?? '')
    if (isEscape) at++
    read += text[at]
  }
  throw new DeployError(`The command has an unclosed ${quote}.`)
}

const needsShell = (text: string, sign: string): DeployError =>
  new DeployError(
    `The command ${JSON.stringify(text)} is not run by a shell, so ${JSON.stringify(sign)} has no special meaning: quote it, or move the command into a package.json script.`,
  )
