process.env.CI_KEY = 'key-of-ci'
process.env.OPS_KEY = 'key-of-ops'
process.env.WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
process.env.SECRETS_KEY = Buffer.alloc(32, 7).toString('base64')

// #region plane
import { apiKeys, bearer, createControlPlaneHandler, either } from 'agentwire/control-plane'
import { verifyJwt } from 'agentwire/control-plane/jwt' // needs jose
import { tokenVault } from 'agentwire/control-plane/oauth' // needs oauth4webapi
import { deployer } from './deployer.ts'

export const controlPlane = createControlPlaneHandler({
  deployer,
  authenticate: either(
    apiKeys({
      [process.env.CI_KEY!]: { id: 'ci', tenant: 'acme' },
      [process.env.OPS_KEY!]: { id: 'ops', tenants: ['acme', 'umbrella'] },
    }),
    bearer(
      verifyJwt({
        jwksUrl: 'https://id.example.com/.well-known/jwks.json',
        issuer: 'https://id.example.com/',
        audience: 'control-plane',
        tenantClaim: 'org_id',
      }),
    ),
  ),
  secrets: { key: process.env.SECRETS_KEY },
  // #region webhooks
  webhooks: [
    {
      url: 'https://receiver.example/hook',
      secret: process.env.WEBHOOK_SECRET!,
      events: ['deployment.revision.deployed'],
    },
  ],
  // #endregion
  // #region vault
  tokenVault: tokenVault({ publicUrl: 'https://control.example.com' }),
  // #endregion
})
// #endregion

await controlPlane.close()
