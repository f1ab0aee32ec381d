import type { OptionTable } from '../../../core/options.ts'
import type { Json } from '../../../storage/index.ts'
import type { Source } from '../../records/records.ts'
import { maskSecrets } from '../../secrets/mask.ts'
import { DeployError, type DeploymentContext, type LogLevel, type PhaseContext } from '../deployer.ts'
import { runCommand, scrubbedEnv } from '../run-command.ts'

/** A program and its arguments. No shell interprets them. */
export type Program = readonly [program: string, ...args: string[]]

export type CommandPhase = 'prepare' | 'build' | 'deploy' | 'promote' | 'stop' | 'destroy'

/** The program of each phase. All may be the same program, which reads the phase from its input. */
export interface CommandDeployerOptions {
  /** Fetches the source. Its result may have `prepared`, which `build` receives, and `repo_commit_sha`. */
  readonly prepare?: Program | undefined
  /** Its result is the artifact that all deploys start from. Default: the result of `prepare`. */
  readonly build?: Program | undefined
  /** Starts the server, and exits when it is ready. Its result has `url`, and `handle` for later phases. */
  readonly deploy: Program
  /** Routes requests to the new server. Its result, if any, replaces that of `deploy`. Default: none. */
  readonly promote?: Program | undefined
  /** Stops a server. Succeeds if the server does not exist. */
  readonly stop: Program
  /** Removes everything that a deployment has left. Succeeds if nothing is left. */
  readonly destroy: Program
  /**
   * The sources that the programs accept; others are rejected with 400. For `internal_source`, the first of
   * `prepare`, `build` and `deploy` that exists gets the path of the tar.gz, as `upload`. Default: `github`
   * and `external_docker`.
   */
  readonly sources?: readonly Source[] | undefined
  /** The phases whose programs get the secrets, in plain text on stdin. Default: only `deploy`. */
  readonly secretsFor?: readonly ('prepare' | 'build' | 'deploy' | 'promote')[] | undefined
  /** The working directory of the programs. Default: that of this process. */
  readonly cwd?: string | undefined
  /** Environment variables in addition to `PATH`, `HOME`, language and certificates. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** The time between SIGTERM and SIGKILL when a phase is stopped, in milliseconds. Default 10,000. */
  readonly graceMs?: number | undefined
}

export const COMMAND_DEPLOYER_OPTIONS: OptionTable<CommandDeployerOptions> = {
  prepare: 'list',
  build: 'list',
  deploy: ['required', 'list'],
  promote: 'list',
  stop: ['required', 'list'],
  destroy: ['required', 'list'],
  sources: 'list',
  secretsFor: 'list',
  cwd: 'string',
  env: { '*': 'string' },
  graceMs: 'number',
}

/** The longest line that is read completely, and the longest error that is shown, in bytes. */
const MAX_LINE_BYTES = 1_048_576
const MAX_ERROR_LENGTH = 2_000

const LEVELS: readonly string[] = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL']

/** What a program reads from stdin, except for the secrets. */
interface Input {
  readonly phase: CommandPhase
  readonly revision?: { readonly id: string; readonly number: number }
  readonly [member: string]: unknown
}

/**
 * Returns a function that runs a phase's program and returns its result. It rejects with a `DeployError` if
 * the program fails.
 */
export function createRunner(options: CommandDeployerOptions) {
  const { secretsFor = ['deploy'], cwd = process.cwd(), env, graceMs = 10_000 } = options
  return async (
    program: Program,
    context: DeploymentContext & Partial<Pick<PhaseContext, 'secrets'>>,
    given: Input,
  ): Promise<Json | undefined> => {
    const { deploymentId, name, signal, log, secrets = {} } = context
    const isTrusted = (secretsFor as readonly CommandPhase[]).includes(given.phase)
    const output = readOutput(log)
    const ended = await runCommand({
      command: program,
      cwd,
      env: {
        ...scrubbedEnv(process.env),
        ...env,
        AGENTWIRE_PHASE: given.phase,
        AGENTWIRE_DEPLOYMENT_ID: deploymentId,
        AGENTWIRE_DEPLOYMENT_NAME: name,
        AGENTWIRE_REVISION_ID: given.revision?.id,
      },
      input: `${JSON.stringify({ ...given, ...(isTrusted && { secrets }) })}\n`,
      onLine: (line, stream) => (stream === 'stdout' ? output.read(line) : log(line)),
      maxLineBytes: MAX_LINE_BYTES,
      graceMs,
      signal,
    })
    const { result, error } = output.get()
    const failed = `The program of the phase "${given.phase}"`
    // `log` masks its lines, but an error must be masked here.
    if (error !== undefined)
      throw new DeployError(`${failed} failed: ${maskSecrets(Object.values(secrets))(error)}`)
    if (ended.code === null) throw new DeployError(`${failed} was ended by ${ended.signal}.`)
    if (ended.code !== 0) throw new DeployError(`${failed} exited with code ${ended.code}.`)
    return result
  }
}

/**
 * Reads the lines of a program's stdout. A JSON object with `log`, `result` or `error` is a message; the last
 * result counts. All other lines go to the log.
 */
function readOutput(log: DeploymentContext['log']) {
  let result: Json | undefined
  let error: string | undefined
  return {
    read(line: string): void {
      const message = parse(line)
      if (message === undefined && /^\s*\{\s*"(result|error)"\s*:/.test(line))
        error = 'its result is not JSON on one line of at most 1 MiB'
      else if (message?.result !== undefined) result = message.result
      else if (message?.error !== undefined) error = textOf(message.error).slice(0, MAX_ERROR_LENGTH)
      else if (typeof message?.log === 'string') log(message.log, levelOf(message.level))
      else log(line)
    },
    get: () => ({ result, error }),
  }
}

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

function levelOf(given: Json | undefined): LogLevel | undefined {
  const level = String(given).toUpperCase()
  return LEVELS.includes(level) ? (level as LogLevel) : undefined
}

function parse(line: string): Readonly<Record<string, Json | undefined>> | undefined {
  if (!line.trimStart().startsWith('{')) return undefined
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
