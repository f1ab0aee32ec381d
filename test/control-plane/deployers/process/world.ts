import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { DeployContext, Deployer, Running } from '../../../../src/control-plane/deployers/deployer.ts'
import {
  type ProcessDeployerOptions,
  processDeployer,
} from '../../../../src/control-plane/deployers/process/process.ts'
import { deployRequest, phaseContext } from '../context.ts'

/** A server that answers with its version, its process and its environment, and streams on `/stream`. */
export const SERVER = `
import { createServer } from 'node:http'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
const version = readFileSync('version.txt', 'utf8')
createServer(async (req, res) => {
  if (req.url === '/crash') process.exit(3)
  if (req.url === '/slow') await sleep(Number(req.headers['x-ms']))
  if (req.url !== '/stream') return res.end(JSON.stringify({ version, pid: process.pid, argv: process.argv.slice(2), cwd: process.cwd(), env: process.env }))
  res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  for (let event = 0; event < 10; event++) {
    await sleep(20)
    res.write('data: ' + version + '\\n\\n')
  }
  res.end()
}).listen(Number(process.env.PORT), process.env.HOST)
`

/** What `SERVER` says. */
export interface Said {
  readonly version: string
  readonly pid: number
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

export const said = async (running: Running, path = '/', headers = {}): Promise<Said> =>
  (await (await fetch(new URL(path, running.url), { headers })).json()) as Said

/** A folder with a source of agents, and one for a deployer. Both go with the test. */
export function createWorld() {
  const folder = mkdtempSync(join(tmpdir(), 'agentwire-process-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const source = join(folder, 'sources', 'agent')
  const dir = join(folder, 'dir')
  let revisions = 0

  function write(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(source, path)), { recursive: true })
      writeFileSync(join(source, path), text)
    }
  }

  function open(options: Partial<ProcessDeployerOptions> = {}): Deployer {
    const deployer = processDeployer({
      dir,
      allowRepositories: [`file://${join(folder, 'sources')}/`],
      start: [process.execPath, 'server.mjs'],
      graceMs: 2_000,
      ...options,
    })
    onTestFinished(() => deployer.close!())
    return deployer
  }

  /** Makes a revision of the source as it is now. */
  async function build(
    deployer: Deployer,
    more: Partial<DeployContext> = {},
  ): Promise<{ readonly context: DeployContext; readonly lines: string[] }> {
    const request = deployRequest({
      sourceConfig: { repo_url: `file://${source}` },
      sourceRevisionConfig: { repo_ref: 'main' },
    })
    const { context, lines } = phaseContext(request, { revisionId: `revision-${++revisions}`, ...more })
    const { prepared } = await deployer.prepare!(context)
    const artifact = await deployer.build!({ ...context, prepared })
    return { context: { ...context, artifact, previous: more.previous }, lines }
  }

  /** Builds, starts and turns to a revision of the source as it is now. */
  async function deploy(deployer: Deployer, more: Partial<DeployContext> = {}) {
    const { context, lines } = await build(deployer, more)
    const running = await deployer.promote!(context, await deployer.deploy(context))
    return { context, lines, running }
  }

  write({ 'langgraph.json': '{}', 'server.mjs': SERVER, 'version.txt': 'one' })
  return { folder, source, dir, write, open, build, deploy }
}
