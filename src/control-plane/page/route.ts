import type { Route } from '../../core/http/index.ts'

/**
 * The page of a deployment, which the vendor's command-line tools link to. It is the same for all deployments
 * and therefore public: it requests its data from the API with its user's key. Its code is loaded with the
 * first request.
 */
export const pageRoute: Route = [
  'GET',
  '/o/:tenant_id/host/deployments/:deployment_id',
  async () => (await import('./page.ts')).deploymentPage(),
  'public',
]
