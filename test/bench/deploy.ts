import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { DeployContext } from '../../src/control-plane/deployers/deployer.ts'
import { processDeployer } from '../../src/control-plane/deployers/process/process.ts'
import { scrubbedEnv } from '../../src/control-plane/deployers/run-command.ts'
import { type Bench, median, runAlone, takeTurns, times } from './support/report.ts'

/** Measures how long the process deployer takes from `deploy` to a server that is ready, beside the same server started by hand. */

const ROUNDS = 20
const TARGET = 1.2

const SERVER = `
require('node:http').createServer((req, res) => res.end('ok')).listen(Number(process.env.PORT), '127.0.0.1')
`

export const deploy: Bench = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agentwire-bench-'))
  const source = join(folder, 'source')
  mkdirSync(source)
  writeFileSync(join(source, 'server.cjs'), SERVER)
  writeFileSync(join(source, 'langgraph.json'), '{}')
  const deployer = processDeployer({
    dir: join(folder, 'dir'),
    allowRepositories: [pathToFileURL(source).href],
    start: [process.execPath, 'server.cjs'],
  })
  try {
    const context = contextOf(pathToFileURL(source).href)
    const { prepared } = await deployer.prepare!(context)
    const artifact = await deployer.build!({ ...context, prepared })
    let port = 40_000
    const ms = await takeTurns(ROUNDS, {
      ours: () =>
        timed(async () => {
          const running = await deployer.deploy({ ...context, artifact })
          return () => deployer.stop(running, context)
        }),
      byHand: () => timed(() => startByHand(source, port++)),
    })
    const [ours, byHand] = [median(ms.ours.slice(1)), median(ms.byHand.slice(1))]
    return [
      {
        bench: 'from deploy to ready, vs a child started by hand',
        ours: `${ours.toFixed(1)} ms`,
        peer: `${byHand.toFixed(1)} ms`,
        ratio: times(ours / byHand),
        target: `<= ${times(TARGET)}`,
        met: ours / byHand <= TARGET,
      },
    ]
  } finally {
    await deployer.close!()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** How long the work takes, in milliseconds. What it gives ends what was started. */
async function timed(work: () => Promise<() => unknown>): Promise<number> {
  const began = performance.now()
  const end = await work()
  const took = performance.now() - began
  await end()
  return took
}

/** Starts the server and asks every few milliseconds whether it is ready. */
async function startByHand(cwd: string, port: number): Promise<() => Promise<unknown>> {
  const child = spawn(process.execPath, ['server.cjs'], {
    cwd,
    // The same environment: certificates that it names take Node a while to load.
    env: { ...scrubbedEnv(process.env), PORT: String(port) },
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  while (!(await isReady(port))) await sleep(5)
  return () => {
    child.kill()
    return ended
  }
}

const isReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/ok`).then(
    ({ ok }) => ok,
    () => false,
  )

const contextOf = (url: string): DeployContext => ({
  deploymentId: 'bench',
  openUpload: async () => undefined,
  revisionId: 'revision',
  revisionNumber: 1,
  name: 'bench',
  owner: null,
  source: 'github',
  sourceConfig: { repo_url: url },
  sourceRevisionConfig: { repo_ref: 'main' },
  secretReferences: [],
  secrets: {},
  signal: new AbortController().signal,
  log: () => {},
  artifact: null,
  previous: undefined,
})

await runAlone(import.meta.url, deploy)
