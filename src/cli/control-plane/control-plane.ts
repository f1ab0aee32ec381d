import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serve } from '../../../adapters/node.ts'
import { apiKeys, createControlPlaneHandler } from '../../control-plane/index.ts'
import { AgentwireError } from '../../core/errors.ts'
import { openStorage, withoutPassword } from '../../storage/open.ts'
import { type ExitCode, explain, type Terminal, untilStopped } from '../terminal.ts'
import { openDeployer } from './deployers.ts'
import {
  CONTROL_PLANE_USAGE,
  type ControlPlaneSettings,
  type ProcessSettings,
  readSettings,
} from './settings.ts'

export async function controlPlaneCommand(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const settings = readSettings(args, terminal)
  if (settings === undefined) {
    terminal.out(CONTROL_PLANE_USAGE)
    return 0
  }
  try {
    const stopped = untilStopped()
    const { origin, port, close } = await start(settings)
    terminal.out(settings.json ? toJson(settings, origin, port) : toText(settings, origin))
    await stopped
    await close()
    return 0
  } catch (error) {
    if (!(error instanceof AgentwireError)) throw error
    terminal.problem(explain(error))
    return 1
  }
}

async function start(settings: ControlPlaneSettings) {
  const { port, hostname, basePath, keys, secretsKeys, showSecrets } = settings
  const storage = await openStorage(settings.storage)
  try {
    await storage.setup()
    if (storage.store.capabilities.durable && secretsKeys.length === 0) {
      throw new AgentwireError(
        'invalid_argument',
        'Durable storage requires --secrets-key or AGENTWIRE_SECRETS_KEY, the same at every start. Generate one with: openssl rand -base64 32',
      )
    }
    const callers = Object.entries(keys).map(([key, id]) => [key, { id }] as const)
    const handler = createControlPlaneHandler({
      deployer: await openDeployer(settings.deployer),
      store: storage.store,
      basePath,
      authenticate: apiKeys(Object.fromEntries(callers)),
      secrets: { key: secretsKeys.length > 0 ? secretsKeys : undefined, show: showSecrets },
      // Restarts what the folder's last process served without waiting for its leases to expire.
      ...(settings.deployer.name === 'process' && {
        worker: { instance: instanceIn(settings.deployer.dir) },
      }),
    })
    const served = await serve(handler, { port, hostname, silent: true }).catch(async (error) => {
      await handler.close()
      throw error
    })
    const close = async () => {
      await served.close()
      await storage.close()
    }
    return { origin: served.origin, port: served.port, close }
  } catch (error) {
    await storage.close()
    throw error
  }
}

/**
 * The name of the instance that owns a folder of sources and builds. It is created once and stored in the
 * folder.
 */
function instanceIn(dir: string): string {
  const file = join(dir, 'instance')
  mkdirSync(dir, { recursive: true })
  try {
    writeFileSync(file, crypto.randomUUID(), { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return readFileSync(file, 'utf8')
}

function toText(
  { basePath = '', deployer, keys, ownKey, secretsKeys, storage }: ControlPlaneSettings,
  origin: string,
): string {
  const names = [...new Set(Object.values(keys))].join(', ')
  return [
    `agentwire control-plane listens on ${origin}${basePath}`,
    `  API       ${origin}${basePath}/docs`,
    `  deployer  ${deployer.name === 'process' ? `process, in ${deployer.dir}` : `${deployer.name}, by ${deployer.config}`}`,
    `  storage   ${storage === 'memory:' ? 'the memory of this process: a restart loses all deployments' : withoutPassword(storage)}`,
    `  keys      ${ownKey === undefined ? `of ${names}` : `generated for this process; send it as the header X-Api-Key: ${ownKey}`}`,
    ...(ownKey === undefined
      ? []
      : [`  deploy    AGENTWIRE_API_KEY=${ownKey} npx agentwire deploy --url ${origin}${basePath}`]),
    `  secrets   encrypted with ${secretsKeys.length === 0 ? 'a key generated for this process' : 'the given key'}`,
    ...(deployer.name === 'process' ? [warning(deployer)] : []),
  ].join('\n')
}

/** What the chosen options allow clients to do. */
function warning({ allowUploads, allowRepositories }: ProcessSettings): string {
  const what = [
    ...(allowUploads ? ['whatever clients upload'] : []),
    ...(allowRepositories.length > 0 ? [`code from ${allowRepositories.join(', ')}`] : []),
  ]
  return `Warning: it builds and runs ${what.join(' and ')} with all permissions of this user. Give API keys only to people you would give an account on this machine.`
}

function toJson(
  { basePath = '', hostname, deployer, ownKey, storage }: ControlPlaneSettings,
  origin: string,
  port: number,
): string {
  return JSON.stringify({
    url: origin + basePath,
    host: hostname,
    port,
    pid: process.pid,
    deployer: deployer.name,
    storage: withoutPassword(storage),
    ...(ownKey !== undefined && { api_key: ownKey }),
  })
}
