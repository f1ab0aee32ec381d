import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { toNode } from '../../../adapters/node.ts'
import { processDeployer } from '../../../src/control-plane/deployers/process/process.ts'
import { scrubbedEnv } from '../../../src/control-plane/deployers/run-command.ts'
import { createControlPlaneHandler } from '../../../src/control-plane/index.ts'
import type { WebHandler } from '../../../src/index.ts'
import { serveCalls } from './process.ts'

const HOST = 'http://127.0.0.1'

const place = mkdtempSync(join(tmpdir(), 'agentwire-bench-'))
process.on('exit', () => rmSync(place, { recursive: true, force: true }))
const source = join(place, 'source')
mkdirSync(source)
writeFileSync(join(source, 'langgraph.json'), '{"graphs":{}}')
writeFileSync(
  join(source, 'server.mjs'),
  `import { createServer } from 'node:http'
createServer((req, res) => res.end('{"ok":true}')).listen(Number(process.env.PORT), '127.0.0.1')`,
)

const authenticate = () => ({ id: 'bench' })
const allowed = `file://${place}/`

/** Deploys for real. */
const real = createControlPlaneHandler({
  authenticate,
  deployer: processDeployer({
    dir: join(place, 'dir'),
    allowRepositories: [allowed],
    start: [process.execPath, 'server.mjs'],
  }),
})

/** Deploys nothing. Its deployments are under way until `finish`. */
let finish = () => {}
let finished = Promise.resolve()
const handler = createControlPlaneHandler({
  authenticate,
  deployer: {
    refuses: () => undefined,
    async deploy() {
      await finished
      return { url: `${HOST}:1`, handle: null }
    },
    stop: async () => {},
    destroy: async () => {},
  },
})

/** Only answers, with the JSON of a revision. */
let answer: unknown
const answerIt = async (): Promise<Response> => Response.json(answer)
const bare: WebHandler = { fetch: answerIt, handle: answerIt, routes: async () => [], close: async () => {} }

interface Revision {
  readonly path: string
  readonly deploymentPath: string
}

async function ask(to: WebHandler, path: string, init?: RequestInit) {
  const response = await to.fetch(new Request(HOST + path, init))
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status} ${text}`)
  return text === '' ? null : JSON.parse(text)
}

async function create(to: WebHandler): Promise<Revision> {
  const deployment = await ask(to, '/v2/deployments', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      name: `agent-${crypto.randomUUID()}`,
      source: 'github',
      source_config: { repo_url: `file://${source}`, deployment_type: 'dev', build_on_push: false },
      source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
      secrets: [],
    }),
  })
  const deploymentPath = `/v2/deployments/${deployment.id}`
  return { deploymentPath, path: `${deploymentPath}/revisions/${deployment.latest_revision_id}` }
}

async function untilDeployed(to: WebHandler, path: string): Promise<unknown> {
  const revision = await ask(to, path, { headers: { prefer: 'wait=60' } })
  if (revision.status !== 'DEPLOYED') throw new Error(JSON.stringify(revision))
  return revision
}

/** Milliseconds from `POST /v2/deployments` to `DEPLOYED`. */
async function deploy(): Promise<number> {
  const began = performance.now()
  const { deploymentPath, path } = await create(real)
  await untilDeployed(real, path)
  const took = performance.now() - began
  await ask(real, deploymentPath, { method: 'DELETE' })
  while ((await real.fetch(new Request(HOST + deploymentPath))).status !== 404) await sleep(20)
  return took
}

/** Milliseconds from starting the same server as a child to the first answer of its `/ok`. */
async function startByHand(): Promise<number> {
  const port = await freePort()
  const began = performance.now()
  const child = spawn(process.execPath, ['server.mjs'], {
    cwd: source,
    // That of the other one: some variables make Node start slowly.
    env: { ...scrubbedEnv(process.env), PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  while (!(await isReady(port))) await sleep(5)
  const took = performance.now() - began
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('close', resolve))
  return took
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

const isReady = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const sent = get({ host: '127.0.0.1', port, path: '/ok', agent: false })
    sent.once('response', ({ statusCode }) => {
      sent.destroy()
      resolve(statusCode === 200)
    })
    sent.on('error', () => resolve(false))
  })

/** A deployed revision, whose JSON the bare handler gives from now on. */
async function createDeployed(): Promise<string> {
  const { path } = await create(handler)
  answer = await untilDeployed(handler, path)
  return path
}

interface Gets {
  readonly by: 'ours' | 'bare'
  readonly path: string
  readonly times: number
}

/** Microseconds of CPU time for each request, without a socket. */
async function gets({ by, path, times }: Gets): Promise<number> {
  const { fetch } = by === 'ours' ? handler : bare
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) await (await fetch(new Request(HOST + path))).text()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}

interface Waiting {
  readonly pollers: number
  readonly ms: number
}

/** CPU time in milliseconds of this process while a revision is under way, and how long after its change everybody has been answered. */
async function wait({ pollers, ms }: Waiting): Promise<{ readonly cpuMs: number; readonly lastMs: number }> {
  finished = new Promise((resolve) => {
    finish = resolve
  })
  const { path } = await create(handler)
  const answers = Promise.all(Array.from({ length: pollers }, () => untilDeployed(handler, path)))
  await sleep(1_000)
  const before = process.cpuUsage()
  await sleep(ms)
  const { user, system } = process.cpuUsage(before)
  const changed = performance.now()
  finish()
  await answers
  return { cpuMs: (user + system) / 1_000, lastMs: performance.now() - changed }
}

const bareServer = createServer(toNode(bare))
await new Promise<void>((resolve) => bareServer.listen(0, '127.0.0.1', resolve))

await serveCalls(createServer(toNode(handler)), {
  deploy,
  startByHand,
  createDeployed,
  gets,
  wait,
  barePort: () => (bareServer.address() as AddressInfo).port,
})
