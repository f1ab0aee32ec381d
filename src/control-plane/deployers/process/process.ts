import { join, resolve } from 'node:path'
import { checkOptions, type OptionTable } from '../../../core/options.ts'
import type { Json } from '../../../storage/index.ts'
import { maskSecrets } from '../../secrets/mask.ts'
import {
  type DeployContext,
  DeployError,
  type Deployer,
  type DeploymentContext,
  type PhaseContext,
  type Running,
} from '../deployer.ts'
import { scrubbedEnv } from '../run-command.ts'
import { buildSource, refuseCommands } from './build.ts'
import { type Artifact, dirsOf, findArtifact, pathHider, removeFolder, removeOldArtifacts } from './dirs.ts'
import { BACKEND_HOST, type Gate, keyGate, openGate } from './proxy/backend.ts'
import { defaultStorage, fillIn, ownServer, type ServerOptions, type StartCommand } from './server/child.ts'
import { createSite, type Site } from './server/site.ts'
import { readAllowed } from './source/git.ts'
import { DEFAULT_LIMITS, fetchSource, refuseSource } from './source/source.ts'

export type { StartCommand } from './server/child.ts'

/** A deployment, as the options of `processDeployer` receive it. */
export interface ProcessDeployment {
  readonly id: string
  readonly name: string
  /** `[tenant]` or `[id]`, then its name. Null without authentication. */
  readonly owner: string | null
}

export interface ProcessDeployerOptions {
  /** The folder for sources and builds, created if needed. Two machines must not share it. */
  readonly dir: string
  /**
   * The repositories that may be deployed, as URL prefixes: `https://git.example/team/` allows all of a
   * team's repositories, and `file:///srv/agents/` the repositories and folders below a folder on this
   * machine. @default none
   */
  readonly allowRepositories?: readonly string[] | undefined
  /**
   * Git settings by name, such as credentials in `http.https://git.example/.extraHeader`. The machine's own
   * settings are not read. @default none
   */
  readonly gitConfig?: Readonly<Record<string, string>> | undefined
  /**
   * Starts the server of a revision, in the revision's folder. In the arguments, `{port}`, `{host}`,
   * `{config}` and `{dir}` are replaced by the port and address to listen on, the path of the langgraph.json,
   * and the folder. `PORT` and `HOST` are also in the environment. The server is ready when `GET /ok`
   * responds with 200.
   * @default `agentwire serve` of this package
   */
  readonly start?: StartCommand | undefined
  /**
   * Additional environment variables for builds and servers. Secrets override them. If neither sets
   * `STORAGE_URL`, this package's servers store their threads in a SQLite file of the deployment, if `libsql`
   * is installed.
   */
  readonly env?: ((deployment: ProcessDeployment) => Readonly<Record<string, string>>) | undefined
  /** The address of all deployments. @default '127.0.0.1' */
  readonly hostname?: string | undefined
  /** The first and the last port for deployments. @default any free port */
  readonly ports?: readonly [first: number, last: number] | undefined
  /**
   * The keys for calling deployments: requests need one of them, as `X-Api-Key` or as a bearer token. The
   * servers do not receive it. @default anyone who can reach the port
   */
  readonly apiKeys?: readonly string[] | undefined
  /**
   * The URL of a deployment, if a proxy in front forwards to `port`. The proxy's `X-Forwarded-…` headers are
   * trusted.
   * @default the address of the port
   */
  readonly publicUrl?: ((deployment: ProcessDeployment & { readonly port: number }) => string) | undefined
  /** How long a server may take to be ready, in milliseconds. @default 60000 */
  readonly readyTimeoutMs?: number | undefined
  /**
   * How long a replaced server's requests may take to end, and after that the time between SIGTERM and
   * SIGKILL, each in milliseconds. @default 15000
   */
  readonly graceMs?: number | undefined
}

const OPTIONS: OptionTable<ProcessDeployerOptions> = {
  dir: ['required', 'string'],
  allowRepositories: 'list',
  gitConfig: { '*': 'string' },
  start: 'list',
  env: 'function',
  hostname: 'string',
  ports: 'list',
  apiKeys: 'list',
  publicUrl: 'function',
  readyTimeoutMs: 'number',
  graceMs: 'number',
}

/**
 * Deploys on this machine: fetches a source, installs and builds it, and starts it as a process with a stable
 * port. **It runs what clients send, with the rights of this process's user**: use it only if you trust
 * everyone who may deploy.
 *
 * The servers end with this process. After a restart, they are started again from their builds.
 */
export function processDeployer(options: ProcessDeployerOptions): Deployer {
  checkOptions('processDeployer', options, OPTIONS)
  checkPorts(options.ports)
  const { hostname = '127.0.0.1', readyTimeoutMs = 60_000, graceMs = 15_000 } = options
  const dirs = dirsOf(resolve(options.dir))
  const hidden = pathHider(resolve(options.dir))
  const allowed = readAllowed(options.allowRepositories ?? [])
  const sites = new Map<string, Site>()
  const machine: Machine = {
    options,
    hostname,
    times: { readyTimeoutMs, graceMs },
    start: options.start ?? ownServer(),
    gate: options.apiKeys === undefined ? openGate : keyGate(options.apiKeys),
    dirs,
    allowed,
    sites,
    isClosed: false,
  }
  return {
    refuses: (request) => refuseSource(request, allowed) ?? refuseCommands(request.sourceConfig),
    takesUploads: true,
    prepare: hidden(async (context: PhaseContext) => {
      const { configPath, commit } = await fetchFor(machine, context)
      const prepared: Artifact = { revisionId: context.revisionId, configPath }
      return { prepared, repoCommitSha: commit }
    }),
    build: hidden(async (context: PhaseContext & { readonly prepared: Json }) => {
      const { dir, configPath } = await findArtifact(dirs, context, context.prepared, async (context) => {
        await fetchFor(machine, context)
      })
      await build(machine, context, dir, configPath)
      return context.prepared
    }),
    deploy: hidden(async (context: DeployContext) => {
      await startServer(machine, context)
      return openPort(machine, context, context.previous && readHandle(context.previous.handle).port)
    }),
    promote: hidden((context: DeployContext, running: Running) => promote(machine, context, running)),
    recover: hidden((context: DeployContext, running: Running) => serve(machine, context, running)),
    standBy: (context, { handle }) => openPort(machine, context, readHandle(handle).port),
    async stop({ handle }, context) {
      await sites.get(context.deploymentId)?.stop(readHandle(handle).revisionId, context)
    },
    async destroy({ deploymentId }) {
      await sites.get(deploymentId)?.close()
      sites.delete(deploymentId)
      await removeFolder(dirs.deployment(deploymentId))
      await removeFolder(dirs.data(deploymentId))
    },
    async close() {
      machine.isClosed = true
      await Promise.all([...sites.values()].map((site) => site.close()))
      sites.clear()
    },
  }
}

interface Machine {
  readonly options: ProcessDeployerOptions
  readonly hostname: string
  readonly times: Pick<ServerOptions, 'readyTimeoutMs' | 'graceMs'>
  readonly start: StartCommand
  readonly gate: Gate
  readonly dirs: ReturnType<typeof dirsOf>
  readonly allowed: ReturnType<typeof readAllowed>
  /** By deployment. */
  readonly sites: Map<string, Site>
  isClosed: boolean
}

function siteOf(machine: Machine, { deploymentId }: DeploymentContext): Site {
  const { options, sites, hostname, gate, times } = machine
  const { ports, publicUrl } = options
  if (machine.isClosed) throw new DeployError('The deployer is closed.')
  const known = sites.get(deploymentId)
  if (known) return known
  const isBehindProxy = publicUrl !== undefined
  const site = createSite({ hostname, ports, gate, isBehindProxy, drainMs: times.graceMs })
  sites.set(deploymentId, site)
  return site
}

const envOf = ({ options }: Machine, context: PhaseContext): Record<string, string> => ({
  ...scrubbedEnv(process.env),
  ...options.env?.(deploymentOf(context)),
  ...context.secrets,
})

const fetchFor = ({ dirs, allowed, options }: Machine, context: PhaseContext) =>
  fetchSource(context, { dirs, allowed, gitConfig: options.gitConfig ?? {}, limits: DEFAULT_LIMITS })

const build = (machine: Machine, context: PhaseContext, folder: string, configPath: string): Promise<void> =>
  buildSource({ ...context, folder, configPath, env: envOf(machine, context) })

async function startServer(machine: Machine, context: DeployContext): Promise<void> {
  const { options, dirs, start, times } = machine
  const { revisionId, artifact, secrets, log, signal } = context
  const { dir, configPath } = await findArtifact(dirs, context, artifact, async (context) => {
    const { folder, configPath } = await fetchFor(machine, context)
    await build(machine, context, folder, configPath)
  })
  const env = {
    ...(options.start === undefined && defaultStorage(dirs, context.deploymentId)),
    ...envOf(machine, context),
  }
  const command = (port: number) => ({
    command: fillIn(start, { port, config: join(dir, configPath), dir }),
    cwd: dir,
    env: { ...env, PORT: String(port), HOST: BACKEND_HOST },
  })
  const mask = maskSecrets(Object.values(secrets))
  await siteOf(machine, context).start(revisionId, { command, log, mask, ...times }, signal)
}

async function openPort(
  machine: Machine,
  context: DeployContext,
  wanted: number | undefined,
): Promise<Running> {
  const { hostname, options } = machine
  const { publicUrl } = options
  const port = await siteOf(machine, context).open(wanted, context.log)
  const host = hostname.includes(':') ? `[${hostname}]` : hostname
  const url = publicUrl ? publicUrl({ ...deploymentOf(context), port }) : `http://${host}:${port}`
  return { url, handle: { revisionId: context.revisionId, port } }
}

async function promote(machine: Machine, context: DeployContext, running: Running): Promise<Running> {
  const serving = await serve(machine, context, running)
  await removeOldArtifacts(machine.dirs, context.deploymentId).catch(({ message }: Error) =>
    context.log(`Old revisions could not be removed: ${message}`, 'WARNING'),
  )
  return serving
}

/** Opens the port first, to respond to clients, and again in case the previous server has closed it. */
async function serve(machine: Machine, context: DeployContext, { handle }: Running): Promise<Running> {
  const { port } = readHandle(handle)
  await openPort(machine, context, port)
  await startServer(machine, context)
  const running = await openPort(machine, context, port)
  await siteOf(machine, context).turnTo(context.revisionId)
  return running
}

interface Handle {
  readonly revisionId: string
  /** The deployment's port, which later revisions take over. */
  readonly port: number
}

const readHandle = (handle: Running['handle']): Handle => handle as unknown as Handle

const deploymentOf = ({ deploymentId: id, name, owner }: DeploymentContext): ProcessDeployment => ({
  id,
  name,
  owner,
})

function checkPorts(ports: ProcessDeployerOptions['ports']): void {
  if (ports === undefined) return
  const [first, last] = ports
  const isRange =
    ports.every((port) => Number.isInteger(port) && port >= 1 && port <= 65_535) && first <= last
  if (ports.length !== 2 || !isRange)
    throw new TypeError('processDeployer: ports must be the first and the last port, such as [4000, 4099].')
}
