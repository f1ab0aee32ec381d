import type { Route } from '../../http/index.ts'

/**
 * The page of a deployment, where the vendor's command-line tools link to. It is the same for all deployments
 * and so is public: what it shows, it asks the API for, with the key of its user. Its code is loaded with the
 * first request.
 */
export const pageRoute: Route = [
  'GET',
  '/o/:tenant_id/host/deployments/:deployment_id',
  async () => (await import('./page.ts')).deploymentPage(),
  'public',
]
