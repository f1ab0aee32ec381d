import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { apiKeys, type ControlPlane, createControlPlaneHandler } from 'agentwire/control-plane'
import { processDeployer } from 'agentwire/control-plane/process'

/**
 * A control plane that starts agents as processes of this machine, where the environment has CONTROL_PLANE_KEY, as `npm run demo`
 * sets it. It asks for that key: what it runs is what a client sends. A repository may only be the folder CONTROL_PLANE_REPOSITORY.
 */
export function controlPlane(): ControlPlane | undefined {
  const { CONTROL_PLANE_KEY: key, CONTROL_PLANE_REPOSITORY: repository } = process.env
  if (!key) return undefined
  return createControlPlaneHandler({
    deployer: processDeployer({
      dir: join(process.cwd(), '.tmp/deployments'),
      allowRepositories: repository ? [pathToFileURL(repository).href] : [],
    }),
    authenticate: apiKeys({ [key]: { id: 'demo' } }),
  })
}
