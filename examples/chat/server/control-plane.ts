import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { apiKeys, type ControlPlane, createControlPlaneHandler } from 'agentwire/control-plane'
import { processDeployer } from 'agentwire/control-plane/process'

/**
 * A control plane that starts agents as processes on this machine, if CONTROL_PLANE_KEY is set, as
 * `npm run demo` does. Callers need that key, because it runs what clients send. The only allowed repository
 * is the folder CONTROL_PLANE_REPOSITORY.
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
