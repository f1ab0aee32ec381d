import type { OptionTable } from '../../../options.ts'
import type { StartCommand } from './server/command.ts'

/** A deployment, as the options of `processDeployer` are told of it. */
export interface ProcessDeployment {
  readonly id: string
  readonly name: string
  /** Whose it is: `[tenant]` or `[id]`, then the name of it. Null without authentication. */
  readonly owner: string | null
}

export interface ProcessDeployerOptions {
  /** The folder for sources and builds. It is made where it is missing, and must not be shared by two machines. */
  readonly dir: string
  /**
   * The repositories that may be deployed, as the beginnings of their URLs: `https://git.example/team/` allows all of a team, and
   * `file:///srv/agents/` the repositories and folders below one of this machine. @default none
   */
  readonly allowRepositories?: readonly string[] | undefined
  /**
   * Settings of git by name, such as the credentials for private repositories in `http.https://git.example/.extraHeader`. Those of the machine
   * are not read. @default none
   */
  readonly gitConfig?: Readonly<Record<string, string>> | undefined
  /**
   * What starts the server of a revision, in the folder of the revision. In the arguments, `{port}` is replaced by the port that it has to
   * listen on, `{host}` by the address, `{config}` by the path of the langgraph.json and `{dir}` by the folder. `PORT` and `HOST` are in its
   * environment, too. It is ready when `GET /ok` answers 200. @default `agentwire serve` of this package
   */
  readonly start?: StartCommand | undefined
  /** More variables for builds and servers, such as the `STORAGE_URL` of the deployment. Its secrets override them. */
  readonly env?: ((deployment: ProcessDeployment) => Readonly<Record<string, string>>) | undefined
  /** The address that deployments are reached at. @default '127.0.0.1' */
  readonly hostname?: string | undefined
  /**
   * The URL of a deployment for its clients, where a proxy in front of it leads to `port`. What that proxy says of the client in
   * `X-Forwarded-…` is believed. @default the address of the port
   */
  readonly publicUrl?: ((deployment: ProcessDeployment & { readonly port: number }) => string) | undefined
  /** How long a server may take to be ready, in milliseconds. @default 60000 */
  readonly readyTimeoutMs?: number | undefined
  /**
   * How long the requests of a replaced server have to end, and how long it has between SIGTERM and SIGKILL after that, each in
   * milliseconds. @default 15000
   */
  readonly graceMs?: number | undefined
}

export const PROCESS_DEPLOYER_OPTIONS: OptionTable<ProcessDeployerOptions> = {
  dir: ['required', 'string'],
  allowRepositories: 'list',
  gitConfig: { '*': 'string' },
  start: 'list',
  env: 'function',
  hostname: 'string',
  publicUrl: 'function',
  readyTimeoutMs: 'number',
  graceMs: 'number',
}
