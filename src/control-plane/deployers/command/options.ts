import type { OptionTable } from '../../../options.ts'
import type { Source } from '../../records/records.ts'

/** A program and its arguments. No shell reads them. */
export type Program = readonly [program: string, ...args: string[]]

export type CommandPhase = 'prepare' | 'build' | 'deploy' | 'promote' | 'stop' | 'destroy'

/** The program of each phase. All may be the same one: it is told its phase. */
export interface CommandDeployerOptions {
  /** Fetches the source. Its result may have `prepared`, for the build, and `repo_commit_sha`. */
  readonly prepare?: Program | undefined
  /** Its result is the artifact, which each deploy of the revision starts from. Without it, that is what `prepare` gave. */
  readonly build?: Program | undefined
  /** Starts the server beside the one that serves, and ends when it is ready. Its result has `url`, and `handle` for the later phases. */
  readonly deploy: Program
  /** Sends requests to the new server. Its result, where there is one, takes the place of that of `deploy`. Default: `deploy` has done it. */
  readonly promote?: Program | undefined
  /** Stops a server. Succeeds where it is not there any more. */
  readonly stop: Program
  /** Removes all that a deployment has left. Succeeds where nothing is left. */
  readonly destroy: Program
  /**
   * Which sources the programs take; any other is refused with 400. Of `internal_source` the first of `prepare`, `build` and `deploy` that is
   * there is told the path of the tar.gz, as `upload`. Default: `github` and `external_docker`.
   */
  readonly sources?: readonly Source[] | undefined
  /** The phases whose programs are given the secrets, in clear on their stdin. Default: `deploy` alone. */
  readonly secretsFor?: readonly ('prepare' | 'build' | 'deploy' | 'promote')[] | undefined
  /** The folder that the programs run in. Default: that of this process. */
  readonly cwd?: string | undefined
  /** What their environment has besides `PATH`, `HOME`, language and certificates. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** How long a program has between SIGTERM and SIGKILL when its phase is stopped, in milliseconds. Default 10,000. */
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
