import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { BACKENDS } from '../../kit/backends.ts'
import { bundleOf } from '../../kit/bundle.ts'
import { isRunning } from '../../kit/processes.ts'
import { type Program, programs } from '../../kit/program.ts'
import { eventually } from '../../kit/wait.ts'

const spawn = programs()

/** Says that it runs, and goes on as long as the file `hold` does not name it. */
const STEP = `
import { appendFileSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
export async function step(name) {
  appendFileSync(process.env.PLACE + '/pids', process.pid + ' ' + name + '\\n')
  while (readFileSync(process.env.PLACE + '/hold', 'utf8') === name) await sleep(20)
}
if (process.argv[2]) await step(process.argv[2])
`
const SERVER = `
import { createServer } from 'node:http'
import { step } from './step.mjs'
process.on('SIGTERM', async () => {
  await step('stop')
  process.exit()
})
await step('start')
createServer((_, res) => res.end('served')).listen(Number(process.env.PORT), process.env.HOST)
`

async function createPlace(backend: (typeof BACKENDS)[number]) {
  const database = await backend.create()
  const place = mkdtempSync(join(tmpdir(), 'agentwire-killed-'))
  onTestFinished(async () => {
    rmSync(place, { recursive: true, force: true })
    await database.remove()
  })
  const source = join(place, 'sources', 'agent')
  mkdirSync(source, { recursive: true })
  for (const [name, text] of Object.entries({
    'langgraph.json': '{}',
    'step.mjs': STEP,
    'server.mjs': SERVER,
  }))
    writeFileSync(join(source, name), text)
  const hold = (name: string) => writeFileSync(join(place, 'hold'), name)
  hold('')
  writeFileSync(join(place, 'pids'), '')
  /** The processes that were started, with what they do. */
  const pids = (name = '') =>
    readFileSync(join(place, 'pids'), 'utf8')
      .split('\n')
      .filter((line) => line.endsWith(` ${name}`) || (line !== '' && name === ''))
      .map((line) => Number(line.split(' ')[0]))
  const start = async (dir = 'dir') => {
    const given = { url: database.url, dir: join(place, dir), sources: join(place, 'sources') }
    const program = spawn(process.execPath, [
      await bundleOf('test/control-plane/attacks/plane.ts'),
      JSON.stringify(given),
    ])
    const base = /serves (\S+)/.exec(await program.output(/serves \S+/))![1]!
    return { program, call: caller(base) }
  }
  const commit = () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: source })
    git('init', '-q', '-b', 'main')
    git('add', '.')
    git('commit', '-q', '-m', 'one')
  }
  const create = {
    name: 'agent',
    source: 'github',
    secrets: [{ name: 'PLACE', value: place }],
    source_config: {
      repo_url: `file://${source}`,
      deployment_type: 'dev',
      build_on_push: false,
      install_command: 'node step.mjs install',
      build_command: 'node step.mjs build',
    },
    source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
  }
  return { place, hold, pids, start, create, commit }
}

function caller(base: string) {
  return async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${base}/v2/deployments${path}`, {
      method,
      headers: { 'x-api-key': 'key', 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }
}
type Call = ReturnType<typeof caller>

async function kill({ child, exit }: Program): Promise<void> {
  child.kill('SIGKILL')
  await exit
}

const answers = (url: string) =>
  fetch(url, { signal: AbortSignal.timeout(500) }).then(
    (response) => response.text(),
    () => undefined,
  )

async function untilDeployed(call: Call, id: string): Promise<string> {
  let url = ''
  await eventually(
    async () => {
      const { body } = await call('GET', `/${id}`)
      const revision = await call('GET', `/${id}/revisions/${body.latest_revision_id}`)
      if (String(revision.body.status).endsWith('FAILED')) throw new Error(JSON.stringify(revision.body))
      url = body.source_config.custom_url
      return revision.body.status === 'DEPLOYED' && url !== null && (await answers(url)) === 'served'
    },
    { timeoutMs: 200_000, what: 'A revision that serves' },
  )
  return url
}

async function untilGone(
  { place, pids }: Awaited<ReturnType<typeof createPlace>>,
  call: Call,
  id: string,
  dir = 'dir',
) {
  await eventually(async () => (await call('GET', `/${id}`)).status === 404, {
    timeoutMs: 200_000,
    what: 'The end of the deployment',
  })
  await eventually(() => !pids().some(isRunning), { timeoutMs: 200_000, what: 'The end of all processes' })
  const folder = join(place, dir, 'deployments')
  expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([])
}

const DATABASES = BACKENDS.filter(({ name }) => name === 'sqlite')

describe.skipIf(process.platform !== 'linux').each(DATABASES)(
  'a control plane that is killed, over $name',
  (backend) => {
    test('goes on where it was, in every phase, and leaves no process, folder and port', async () => {
      const world = await createPlace(backend)
      const { hold, pids, start, create } = world
      let { program, call } = await start()
      let id = ''
      for (const phase of ['build', 'start']) {
        hold(phase)
        const before = pids(phase).length
        const made = id === '' ? await call('POST', '', create) : await call('PATCH', `/${id}`, create)
        expect(made.status).toBeLessThan(300)
        id = made.body.id
        await eventually(() => pids(phase).length > before, {
          timeoutMs: 200_000,
          what: `The beginning of ${phase}`,
        })
        await kill(program)
        await eventually(() => !pids().some(isRunning), {
          timeoutMs: 200_000,
          what: 'The end of all processes',
        })
        hold('')
        ;({ program, call } = await start())
        await untilDeployed(call, id)
      }
      const url = await untilDeployed(call, id)

      // While it serves.
      await kill(program)
      await eventually(() => !pids().some(isRunning), {
        timeoutMs: 200_000,
        what: 'The end of all processes',
      })
      expect(await answers(url)).toBeUndefined()
      ;({ program, call } = await start())
      expect(await untilDeployed(call, id)).toBe(url)

      // In the middle of whatever comes first: fetching, switching.
      await call('PATCH', `/${id}`, create)
      await new Promise((resolve) => setTimeout(resolve, 100))
      await kill(program)
      ;({ program, call } = await start())
      expect(await untilDeployed(call, id)).toBe(url)

      // While it is deleted.
      hold('stop')
      const before = pids('stop').length
      expect((await call('DELETE', `/${id}`)).status).toBe(204)
      await eventually(() => pids('stop').length > before, {
        timeoutMs: 200_000,
        what: 'The beginning of the stop',
      })
      await kill(program)
      hold('')
      ;({ program, call } = await start())
      await untilGone(world, call, id)
      expect(await answers(url)).toBeUndefined()
      expect(program.text()).toMatch(/^serves \S+\n$/)
    })
  },
)

const shared = BACKENDS.filter(({ name, installed }) => name === 'postgres' && installed())

describe.skipIf(process.platform !== 'linux').each(shared)(
  'two instances over one $name, with a folder each',
  (backend) => {
    test('one builds, the other one waits, and takes over when it is killed', async () => {
      const world = await createPlace(backend)
      const { pids, start, create, commit } = world
      commit()
      const one = await start('one')
      const { body } = await one.call('POST', '', create)
      const url = await untilDeployed(one.call, body.id)
      const two = await start('two')
      // Longer than a lease.
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      expect(pids('install')).toHaveLength(1)
      expect(await answers(url)).toBe('served')
      await kill(one.program)
      await untilDeployed(two.call, body.id)
      await two.call('DELETE', `/${body.id}`)
      await untilGone(world, two.call, body.id, 'two')
    })
  },
)
