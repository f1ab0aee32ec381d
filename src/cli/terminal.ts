import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { nearest } from '../core/nearest.ts'
import type { StorageReport } from '../storage/durable.ts'

/** The environment and the output of a command. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Prints the result. */
  out(text: string): void
  /** Asks for a line. Absent if there is no interactive terminal. Rejects with `Canceled`. */
  ask?(question: string): Promise<string>
  /** Prints why there is no result. */
  problem(text: string): void
}

/** 1 means that the command failed, 2 that the command line is invalid, 130 that the user canceled it. */
export type ExitCode = 0 | 1 | 2 | 130

/** The command line is invalid; the message says why. */
export class UsageError extends Error {}

/** The user pressed Ctrl-C or Ctrl-D at a question. */
export class Canceled extends Error {}

/** Asks for a line on a terminal. Rejects with `Canceled` at Ctrl-C and at Ctrl-D. */
export async function askLine(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  const lines = createInterface({ input, output, terminal: true })
  try {
    return await Promise.race([
      lines.question(question),
      // Not every release of Node also rejects the question.
      new Promise<never>((_, reject) => lines.once('close', () => reject(new Canceled()))),
    ])
  } catch (error) {
    throw (error as Error).name === 'AbortError' ? new Canceled() : error
  } finally {
    lines.close()
  }
}

/** Opens a page in the user's browser: the program in `BROWSER`, otherwise the system's default. */
export function openPage(url: string, { env, problem }: Terminal): void {
  const [program, ...args] = env.BROWSER ? [env.BROWSER] : (SYSTEM[process.platform] ?? ['xdg-open'])
  const child = spawn(program!, [...args, url], { detached: true, stdio: 'ignore' })
  child.once('error', () => problem(`No browser was found. Open ${url} yourself, or pass --no-open.`))
  child.unref()
}

const SYSTEM: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  // The empty argument is the window's title.
  win32: ['cmd', '/c', 'start', ''],
}

/** Resolves at the first SIGINT or SIGTERM. A second one ends the process immediately. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false
    const stop = (signal: NodeJS.Signals): void => {
      if (stopping) process.exit(signal === 'SIGINT' ? 130 : 143)
      stopping = true
      resolve()
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  })
}

type Options = Readonly<
  Record<
    string,
    { readonly type: 'string' | 'boolean'; readonly short?: string; readonly multiple?: boolean }
  >
>

interface CommandLine<T extends Options> {
  readonly values: {
    readonly [Name in keyof T]?: T[Name] extends { readonly type: 'boolean' }
      ? boolean
      : T[Name] extends { readonly multiple: true }
        ? readonly string[]
        : string
  }
  /** The arguments that belong to no option. */
  readonly positionals: readonly string[]
}

/** Throws `UsageError`. */
export function parseCommandLine<const T extends Options>(
  args: readonly string[],
  options: T,
): CommandLine<T> {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options }) as CommandLine<T>
  } catch (error) {
    // Only the first sentence concerns this command line; the rest explains options in general.
    const problem = (error as Error).message.replace(/\. .*$/s, '.')
    throw new UsageError(problem + suggestion(problem, Object.keys(options)))
  }
}

function suggestion(problem: string, names: readonly string[]): string {
  const [, given] = /^Unknown option '--([^']+)'/.exec(problem) ?? []
  const meant = given && nearest(given, names)
  return meant ? ` Did you mean --${meant}?` : ''
}

/** A port from the command line or the environment. With 0, the system chooses. Throws `UsageError`. */
export function portOf(text: string, from: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new UsageError(`${from} must be a number from 0 to 65535, not “${text}”.`)
}

/** Something that an operator should know. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'problem'
  readonly text: string
}

export function findingsOf({ schema, durable, warnings }: StorageReport): readonly Finding[] {
  return [
    { level: 'ok', text: 'Reachable.' },
    migrationFinding(schema),
    durable
      ? { level: 'ok', text: 'Durable: acknowledged writes survive a crash of the database.' }
      : { level: 'warning', text: 'Not durable: a crash can lose acknowledged writes.' },
    ...warnings.map((text) => ({ level: 'warning', text }) as const),
  ]
}

function migrationFinding({ version, newest }: StorageReport['schema']): Finding {
  if (newest === 0) return { level: 'ok', text: 'Nothing to migrate.' }
  if (version === newest) return { level: 'ok', text: `Migrated: version ${version} of ${newest}.` }
  const text =
    version > newest
      ? `The schema has version ${version}, but this release of agentwire only knows ${newest}: update the package.`
      : `Not migrated: version ${version} of ${newest}. Run “agentwire storage migrate”, or start a server, which migrates too.`
  return { level: 'problem', text }
}

/** One line each, such as `1,200 events`. */
export function contentLines({ counts, bytes }: StorageReport): readonly string[] {
  const { partitions, documents, events, leases, checkpoints } = counts
  return [
    plural(partitions, 'thread or other partition', 'threads and other partitions'),
    plural(documents, 'document', 'documents'),
    plural(events, 'event', 'events'),
    plural(checkpoints, 'checkpoint', 'checkpoints'),
    plural(leases, 'lease (a run or other work in progress)', 'leases (runs and other work in progress)'),
    ...(bytes === undefined ? [] : [`${size(bytes)} in total`]),
  ]
}

const plural = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/** Such as `12 KiB`, with three digits at most. */
export function size(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  const at = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** at
  return `${at === 0 || value >= 99.5 ? Math.round(value) : Number(value.toPrecision(2))} ${units[at]}`
}

/** An error and its causes, as one sentence. */
export function explain(error: Error): string {
  let text = error.message
  for (let cause = causeOf(error); cause !== undefined; cause = causeOf(cause)) {
    const more = cause.message
    if (more !== '' && !text.includes(more)) text = `${text.replace(/\.$/, '')}: ${more}`
  }
  return /[.!?]$/.test(text) ? text : `${text}.`
}

/** The cause of an error. If there are several, such as one for each address of a host, the first. */
function causeOf(error: Error): Error | undefined {
  const cause = error instanceof AggregateError ? error.errors[0] : error.cause
  return cause instanceof Error ? cause : undefined
}
