import type { DeployContext, Running } from '../../../../src/control-plane/deployers/deployer.ts'
import { processDeployer } from '../../../../src/control-plane/deployers/process/process.ts'

/** A program that serves a revision until it is killed. */
const { dir, context, running } = JSON.parse(process.argv[2]!) as {
  readonly dir: string
  readonly context: DeployContext
  readonly running: Running
}
const deployer = processDeployer({ dir, start: [process.execPath, 'server.mjs'] })
const { signal } = new AbortController()
const { url } = await deployer.recover!({ ...context, signal, log: console.error }, running)
console.log(`serves ${url}`)
