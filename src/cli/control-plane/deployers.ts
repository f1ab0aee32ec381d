import { readFileSync } from 'node:fs'
import * as z from 'zod/mini'
import type { CommandDeployerOptions } from '../../control-plane/deployers/command/command.ts'
import type { KubernetesDeployerOptions } from '../../control-plane/deployers/kubernetes/kubernetes.ts'
import type { Deployer } from '../../control-plane/index.ts'
import * as t from '../../control-plane/wire/common.ts'
import { createFindings } from '../../control-plane/wire/problems.ts'
import { SOURCE } from '../../control-plane/wire/source.ts'
import { AgentwireError } from '../../core/errors.ts'
import { ConfigError } from '../serve/config-reader.ts'
import type { DeployerSettings, ProcessSettings } from './settings.ts'

/** Loads the chosen deployer with its packages. Throws `AgentwireError` for unknown options. */
export async function openDeployer(settings: DeployerSettings): Promise<Deployer> {
  try {
    return await open(settings)
  } catch (cause) {
    if (cause instanceof AgentwireError || !(cause instanceof TypeError)) throw cause
    throw new AgentwireError('invalid_argument', cause.message, { cause })
  }
}

async function open(settings: DeployerSettings): Promise<Deployer> {
  if (settings.name === 'process') return openProcess(settings)
  if (settings.name === 'command') {
    const { commandDeployer } = await import('../../control-plane/deployers/command/command.ts')
    const config = readDeployerConfig(settings.config, COMMAND_CONFIG)
    // The schema requires a program in each list.
    return commandDeployer(config as unknown as CommandDeployerOptions)
  }
  const { kubernetesDeployer } = await import('../../control-plane/deployers/kubernetes/kubernetes.ts')
  const config = readDeployerConfig(settings.config, KUBERNETES_CONFIG)
  return kubernetesDeployer(config as KubernetesDeployerOptions)
}

async function openProcess(settings: ProcessSettings): Promise<Deployer> {
  const { processDeployer } = await import('../../control-plane/deployers/process/process.ts')
  const { dir, allowUploads, allowRepositories, hostname, ports, agentKeys: apiKeys } = settings
  const deployer = processDeployer({ dir, allowRepositories, hostname, ports, apiKeys })
  return allowUploads ? deployer : withoutUploads(deployer)
}

function withoutUploads(deployer: Deployer): Deployer {
  return {
    ...deployer,
    takesUploads: false,
    refuses: (request) =>
      request.source === 'internal_source'
        ? 'This control plane does not accept uploads: it was started without --allow-uploads.'
        : deployer.refuses(request),
  }
}

const STRINGS = z.optional(t.list(t.NOT_EMPTY))
const FLAG = z.optional(t.BOOLEAN)
const COUNT = z.optional(t.integer({ minimum: 0 }))
const PROGRAM = t.list(t.STRING, { minItems: 1 })
const OTHER_PROGRAM = z.optional(PROGRAM)

/** The options of `commandDeployer` that JSON can express. */
const COMMAND_CONFIG = z.object({
  prepare: OTHER_PROGRAM,
  build: OTHER_PROGRAM,
  deploy: PROGRAM,
  promote: OTHER_PROGRAM,
  stop: PROGRAM,
  destroy: PROGRAM,
  sources: z.optional(t.list(SOURCE)),
  secretsFor: z.optional(t.list(z.enum(['prepare', 'build', 'deploy', 'promote']))),
  cwd: z.optional(t.NOT_EMPTY),
  env: z.optional(t.mapOf(t.STRING)),
  graceMs: COUNT,
})

/** The options of `kubernetesDeployer` that JSON can express. */
const KUBERNETES_CONFIG = z.object({
  namespace: t.NOT_EMPTY,
  namespaces: STRINGS,
  port: z.optional(t.integer({ minimum: 1, maximum: 65_535 })),
  revisionHistory: COUNT,
  followLogs: FLAG,
  allow: z.optional(
    z.object({
      volumes: STRINGS,
      capabilities: STRINGS,
      privileged: FLAG,
      hostPorts: FLAG,
      serviceAccounts: STRINGS,
    }),
  ),
  times: z.optional(
    z.object({
      progressDeadlineSeconds: z.optional(t.integer({ minimum: 1 })),
      drainMs: COUNT,
      lookMs: COUNT,
      mostLookMs: COUNT,
      requestMs: COUNT,
      retryMs: COUNT,
      retryForMs: COUNT,
    }),
  ),
})

/** The options in a JSON file. Throws `ConfigError`, which names the file and what is wrong. */
function readDeployerConfig<S extends z.ZodMiniObject>(file: string, schema: S): z.output<S> {
  const value = readJson(file)
  const names = Object.keys(schema._zod.def.shape)
  const unknown = Object.keys(Object(value)).filter((name) => !names.includes(name))
  if (unknown.length > 0)
    throw new ConfigError(
      `${file}: unknown option ${unknown.join(', ')}. Known options: ${names.join(', ')}.`,
    )
  const findings = createFindings()
  const checked = findings.read(schema, value, [])
  if (findings.problems.length === 0) return checked
  const told = findings.problems.map(({ loc, msg }) => `${loc.join('.') || 'the whole value'}: ${msg}`)
  throw new ConfigError(`${file}: ${told.join('; ')}.`)
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new ConfigError(`${file} cannot be read: ${(cause as Error).message}.`, { cause })
  }
}
