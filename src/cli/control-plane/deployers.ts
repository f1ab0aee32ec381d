import type { CommandDeployerOptions } from '../../control-plane/deployers/command/command.ts'
import type { Deployer } from '../../control-plane/deployers/deployer.ts'
import type { KubernetesTimes } from '../../control-plane/deployers/kubernetes/options.ts'
import { AgentwireError } from '../../core/errors.ts'
import { COMMAND_CONFIG, KUBERNETES_CONFIG, readDeployerConfig } from './deployer-config.ts'
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
  const { times, ...config } = readDeployerConfig(settings.config, KUBERNETES_CONFIG)
  return kubernetesDeployer({ ...config, times: times as Partial<KubernetesTimes> | undefined })
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
