import type { OptionTable } from '../../../core/options.ts'
import type { Source } from '../../records/records.ts'

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
