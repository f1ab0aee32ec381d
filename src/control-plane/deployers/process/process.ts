import { join, resolve } from 'node:path'
import { checkOptions } from '../../../options.ts'
import type { Json } from '../../../storage/index.ts'
import { maskSecrets } from '../../secrets/mask.ts'
import type { DeployContext, Deployer, DeploymentContext, PhaseContext, Running } from '../deployer.ts'
import { DeployError } from '../errors.ts'
import { scrubbedEnv } from '../run-command.ts'
import { type Artifact, findArtifact, removeOldArtifacts } from './artifact.ts'
import { buildSource, refuseCommands } from './build.ts'
import { dirsOf, removeFolder } from './dirs.ts'
import { pathHider } from './hide-paths.ts'
import { PROCESS_DEPLOYER_OPTIONS, type ProcessDeployerOptions, type ProcessDeployment } from './options.ts'
import { BACKEND_HOST } from './proxy/backend.ts'
import type { ServerOptions } from './server/child.ts'
import { fillIn, ownServer } from './server/command.ts'
import { createSite, type Site } from './server/site.ts'
import { readAllowed } from './source/repository.ts'
import { DEFAULT_LIMITS, fetchSource, refuseSource } from './source/source.ts'

export type { ProcessDeployerOptions, ProcessDeployment } from './options.ts'
export type { StartCommand } from './server/command.ts'

/**
 * Deploys on this machine: fetches a source, installs and builds it, and starts it as a process, behind a port that stays the same. **It
 * runs what clients send, with the rights of the user that this process runs as**: use it where all who may deploy are trusted.
 *
 * The servers end with this process. After its restart they are started again from what was built.
 */
export function processDeployer(options: ProcessDeployerOptions): Deployer {
  checkOptions('processDeployer', options, PROCESS_DEPLOYER_OPTIONS)
  const { hostname = '127.0.0.1', publicUrl, readyTimeoutMs = 60_000, graceMs = 15_000 } = options
  const start = options.start ?? ownServer()
  const dirs = dirsOf(resolve(options.dir))
  const hidden = pathHider(resolve(options.dir))
  const allowed = readAllowed(options.allowRepositories ?? [])
  const sites = new Map<string, Site>()
  let isClosed = false

  function siteOf({ deploymentId }: DeploymentContext): Site {
    if (isClosed) throw new DeployError('The deployer is closed.')
    const known = sites.get(deploymentId)
    if (known) return known
    const site = createSite({ hostname, isBehindProxy: publicUrl !== undefined, drainMs: graceMs })
    sites.set(deploymentId, site)
    return site
  }

  const envOf = (context: PhaseContext): Record<string, string> => ({
    ...scrubbedEnv(process.env),
    ...options.env?.(told(context)),
    ...context.secrets,
  })

  const fetchFor = (context: PhaseContext) =>
    fetchSource(
      context,
      { dirs, allowed, gitConfig: options.gitConfig ?? {}, limits: DEFAULT_LIMITS },
      context,
    )

  async function build(context: PhaseContext, folder: string, configPath: string): Promise<void> {
    const { sourceConfig, signal, log } = context
    await buildSource({
      folder,
      configPath,
      installCommand: sourceConfig.install_command,
      buildCommand: sourceConfig.build_command,
      env: envOf(context),
      signal,
      log,
    })
  }

  async function startServer(context: DeployContext): Promise<void> {
    const { revisionId, artifact, secrets, log, signal } = context
    const { dir, configPath } = await findArtifact(dirs, context, artifact, async (context) => {
      const { folder, configPath } = await fetchFor(context)
      await build(context, folder, configPath)
    })
    const env = envOf(context)
    const server: ServerOptions = {
      command: (port) => ({
        command: fillIn(start, { port, config: join(dir, configPath), dir }),
        cwd: dir,
        env: { ...env, PORT: String(port), HOST: BACKEND_HOST },
      }),
      log,
      mask: maskSecrets(Object.values(secrets)),
      readyTimeoutMs,
      graceMs,
    }
    await siteOf(context).start(revisionId, server, signal)
  }

  async function openPort(context: DeployContext, wanted: number | undefined): Promise<Running> {
    const port = await siteOf(context).open(wanted, context.log)
    const host = hostname.includes(':') ? `[${hostname}]` : hostname
    const url = publicUrl ? publicUrl({ ...told(context), port }) : `http://${host}:${port}`
    return { url, handle: { revisionId: context.revisionId, port } }
  }

  /** Opens the port first, so that clients are told to come again, and once more where the last server before has closed it meanwhile. */
  async function serve(context: DeployContext, { handle }: Running): Promise<Running> {
    const { port } = readHandle(handle)
    await openPort(context, port)
    await startServer(context)
    const running = await openPort(context, port)
    await siteOf(context).turnTo(context.revisionId)
    return running
  }

  return {
    refuses: (request) => refuseSource(request, allowed) ?? refuseCommands(request.sourceConfig),
    takesUploads: true,
    prepare: hidden(async (context: PhaseContext) => {
      const { configPath, commit } = await fetchFor(context)
      const prepared: Artifact = { revisionId: context.revisionId, configPath }
      return { prepared, repoCommitSha: commit }
    }),
    build: hidden(async (context: PhaseContext & { readonly prepared: Json }) => {
      const { dir, configPath } = await findArtifact(dirs, context, context.prepared, async (context) => {
        await fetchFor(context)
      })
      await build(context, dir, configPath)
      return context.prepared
    }),
    deploy: hidden(async (context: DeployContext) => {
      await startServer(context)
      return openPort(context, context.previous && readHandle(context.previous.handle).port)
    }),
    promote: hidden(async (context: DeployContext, running: Running) => {
      const serving = await serve(context, running)
      await removeOldArtifacts(dirs, context.deploymentId).catch(({ message }: Error) =>
        context.log(`Old revisions could not be removed: ${message}`, 'WARNING'),
      )
      return serving
    }),
    recover: hidden(serve),
    standBy: (context, { handle }) => openPort(context, readHandle(handle).port),
    async stop({ handle }, context) {
      await sites.get(context.deploymentId)?.stop(readHandle(handle).revisionId, context)
    },
    async destroy({ deploymentId }) {
      await sites.get(deploymentId)?.close()
      sites.delete(deploymentId)
      await removeFolder(dirs.deployment(deploymentId))
    },
    async close() {
      isClosed = true
      await Promise.all([...sites.values()].map((site) => site.close()))
      sites.clear()
    },
  }
}

/** What `stop`, `promote` and `recover` need, as it is stored. */
interface Handle {
  readonly revisionId: string
  /** Of the deployment, which later revisions take over. */
  readonly port: number
}

const readHandle = (handle: Running['handle']): Handle => handle as unknown as Handle

const told = ({ deploymentId: id, name, owner }: DeploymentContext): ProcessDeployment => ({
  id,
  name,
  owner,
})
