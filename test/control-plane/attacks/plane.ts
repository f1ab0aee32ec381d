import { serve } from '../../../adapters/node.ts'
import { processDeployer } from '../../../src/control-plane/deployers/process/process.ts'
import { apiKeys, createControlPlaneHandler } from '../../../src/control-plane/index.ts'
import { openStorage } from '../../../src/storage/open.ts'

/** A control plane with the process deployer, which runs until it is killed. */
const { url, dir, sources } = JSON.parse(process.argv[2]!) as Record<'url' | 'dir' | 'sources', string>
const storage = await openStorage(url)
await storage.setup()
const controlPlane = createControlPlaneHandler({
  store: storage.store,
  deployer: processDeployer({
    dir,
    allowRepositories: [`file://${sources}/`],
    start: [process.execPath, 'server.mjs'],
    graceMs: 1_000,
  }),
  authenticate: apiKeys({ key: { id: 'ci' } }),
  secrets: { key: btoa('k'.repeat(32)) },
  worker: { leaseMs: 900, retryMs: 100 },
})
const { origin } = await serve(controlPlane, { port: 0, silent: true })
console.log(`serves ${origin}`)
