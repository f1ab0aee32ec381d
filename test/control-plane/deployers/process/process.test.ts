import { readdirSync, rmSync } from 'node:fs'
import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@langchain/langgraph-sdk'
import { expect, onTestFinished, test } from 'vitest'
import { DeployError, type Running } from '../../../../src/control-plane/deployers/deployer.ts'
import { bundleOf } from '../../../kit/bundle.ts'
import { listen } from '../../../kit/listen.ts'
import { isRunning } from '../../../kit/processes.ts'
import { programs } from '../../../kit/program.ts'
import { eventually } from '../../../kit/wait.ts'
import { deployRequest } from '../context.ts'
import { createWorld, said } from './world.ts'

const portOf = ({ url }: Running): number => Number(new URL(url).port)

test('a source is installed, built, started in its folder and reached at a URL', async () => {
  const { open, deploy, write, dir } = createWorld()
  write({ 'app/langgraph.json': '{}', 'package.json': '{}' })
  const deployer = open({
    start: [process.execPath, 'server.mjs', '{config}', '--at={host}:{port}', '{dir}'],
    env: ({ id, name, owner }) => ({ ABOUT: `${id} ${name} ${owner}`, TOKEN: 'overridden' }),
  })
  process.env.AGENTWIRE_TEST_SECRET = 'of the control plane'
  onTestFinished(() => void delete process.env.AGENTWIRE_TEST_SECRET)
  const { running, context, lines } = await deploy(deployer, {
    owner: 'team',
    secrets: { TOKEN: 'of the deployment' },
    sourceConfig: {
      repo_url: `file://${join(dir, '../sources/agent')}`,
      install_command: `node -e "console.log('installing')"`,
      build_command: `node -e "require('fs').writeFileSync('../version.txt', 'built in ' + require('path').basename(process.cwd()))"`,
    },
    sourceRevisionConfig: { repo_ref: 'main', langgraph_config_path: 'app/langgraph.json' },
  })
  expect(running.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  const { version, cwd, argv, env } = await said(running)
  expect(version).toBe('built in app')
  expect(cwd).toBe(join(dir, 'deployments', context.deploymentId, context.revisionId, 'source'))
  expect(argv).toEqual([join(cwd, 'app/langgraph.json'), `--at=127.0.0.1:${env.PORT}`, cwd])
  expect(env).toMatchObject({
    HOST: '127.0.0.1',
    TOKEN: 'of the deployment',
    ABOUT: 'deployment-1 agent team',
    PATH: process.env.PATH,
  })
  expect(env).not.toHaveProperty('AGENTWIRE_TEST_SECRET')
  expect(Number(env.PORT)).not.toBe(portOf(running))
  expect(lines).toContain('installing')
})

test('what it does not take is refused in a sentence that says what it takes', () => {
  const { open, source } = createWorld()
  const { refuses } = open()
  const repo = { sourceConfig: { repo_url: `file://${source}` }, sourceRevisionConfig: { repo_ref: 'main' } }
  expect(refuses(deployRequest(repo))).toBe(undefined)
  expect(refuses(deployRequest({ source: 'internal_source' }))).toBe(undefined)
  for (const kind of ['external_docker', 'internal_docker', 'internal_template'] as const)
    expect(refuses(deployRequest({ source: kind }))).toMatch(/use github or internal_source/)
  expect(
    refuses(deployRequest({ ...repo, sourceConfig: { repo_url: 'https://elsewhere.example/x' } })),
  ).toMatch(/does not deploy from there/)
  const commands = { ...repo.sourceConfig, install_command: 'npm ci', build_command: 'make; rm -rf /' }
  expect(refuses(deployRequest({ ...repo, sourceConfig: commands }))).toMatch(/not run by a shell, so ";"/)
})

test('a new revision takes the requests over at the same URL, and the old one ends with its last request', async () => {
  const { open, deploy, build, write } = createWorld()
  const deployer = open()
  const first = await deploy(deployer)
  const { pid } = await said(first.running)
  write({ 'version.txt': 'two' })
  const second = await build(deployer, { previous: first.running })
  const started = await deployer.deploy(second.context)
  expect((await said(first.running)).version).toBe('one')
  const slow = said(first.running, '/slow', { 'x-ms': '1500' })
  await sleep(100)
  const running = await deployer.promote!(second.context, started)
  expect(running.url).toBe(first.running.url)
  expect((await said(running)).version).toBe('two')
  const stopped = deployer.stop(first.running, first.context)
  await sleep(100)
  expect(isRunning(pid)).toBe(true)
  expect((await slow).version).toBe('one')
  await stopped
  expect(isRunning(pid)).toBe(false)
  expect((await said(running)).version).toBe('two')
  await deployer.stop(first.running, first.context)
})

test('a request that outlasts the grace is broken off, and the log says so', async () => {
  const { open, deploy } = createWorld()
  const deployer = open({ graceMs: 300 })
  const { running, context, lines } = await deploy(deployer)
  const slow = said(running, '/slow', { 'x-ms': '60000' })
  await sleep(100)
  await deployer.stop(running, context)
  expect(await slow).toMatchObject({ error: 'broke_off' })
  expect(lines.at(-1)).toBe('Requests that were not answered after 0.3 seconds are aborted.')
  await expect(said(running)).rejects.toThrow()
})

test('200 clients with kept connections, and streams, notice nothing of 20 switches', async () => {
  const { open, deploy, write } = createWorld()
  const deployer = open({ graceMs: 10_000 })
  let current = await deploy(deployer)
  const url = new URL(current.running.url)
  const agent = new Agent({ keepAlive: true, maxSockets: 400 })
  onTestFinished(() => agent.destroy())
  const failures: unknown[] = []
  const versions = new Set<string>()
  let answers = 0
  let streams = 0
  let isOver = false
  const ask = (path: string, body?: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST'
      const sent = request({ agent, host: url.hostname, port: url.port, path, method })
      sent.once('response', resolve).once('error', reject).end(body)
    })
  const client = async (number: number) => {
    while (!isOver) {
      try {
        const isStream = number % 10 === 0
        const response = await ask(isStream ? '/stream' : '/', number % 2 ? 'a body' : undefined)
        const got = await text(response)
        if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${got}`)
        if (isStream) {
          const events = got.trim().split('\n\n')
          if (events.length !== 10 || new Set(events).size !== 1) throw new Error(got)
          streams++
        } else versions.add(JSON.parse(got).version)
        answers++
      } catch (error) {
        failures.push(error)
      }
      await sleep(20)
    }
  }
  const clients = Array.from({ length: 200 }, (_, number) => client(number))
  const stops: Promise<void>[] = []
  for (let at = 1; at <= 20; at++) {
    write({ 'version.txt': String(at) })
    const next = await deploy(deployer, { previous: current.running })
    expect(next.running.url).toBe(current.running.url)
    stops.push(deployer.stop(current.running, current.context))
    current = next
    const soFar = answers
    await eventually(() => answers >= soFar + 200)
  }
  isOver = true
  await Promise.all([...clients, ...stops])
  expect(failures).toEqual([])
  expect(versions.size).toBe(21)
  expect(streams).toBeGreaterThan(50)
})

test('a server that crashes answers 503 until it is started again', async () => {
  const { open, deploy } = createWorld()
  const deployer = open()
  const { running, lines } = await deploy(deployer)
  const { pid } = await said(running)
  await said(running, '/crash').catch(() => {})
  const response = await fetch(running.url)
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
  await eventually(async () => (await fetch(running.url)).status === 200, { everyMs: 20, timeoutMs: 200_000 })
  expect((await said(running)).pid).not.toBe(pid)
  expect(lines.at(-1)).toBe('The server ended with exit code 3.\nThe server restarts in 0.1 seconds.')
})

test('a start that fails leaves the old one serving, and nothing behind', async () => {
  const { open, deploy, build, write } = createWorld()
  const deployer = open()
  const first = await deploy(deployer)
  write({
    'server.mjs': `console.log('pid', process.pid); console.error('no such model: ' + process.env.TOKEN); process.exitCode = 2; setTimeout(() => {}, 50)`,
  })
  const second = await build(deployer, { previous: first.running, secrets: { TOKEN: 'very secret' } })
  const error = await deployer.deploy(second.context).catch((thrown) => thrown)
  expect(error).toBeInstanceOf(DeployError)
  expect(error.message).toMatch(/exit code 2 before it was ready.*no such model: \*\*\*/s)
  expect((await said(first.running)).version).toBe('one')

  write({ 'server.mjs': `console.log('pid', process.pid); setInterval(() => {}, 1000)` })
  const stopping = new AbortController()
  const third = await build(deployer, { previous: first.running, signal: stopping.signal })
  const started = deployer.deploy(third.context)
  await eventually(() => third.lines.some((line) => line.startsWith('pid')))
  stopping.abort(new Error('a newer revision'))
  await expect(started).rejects.toThrow('a newer revision')
  expect(isRunning(Number(third.lines.at(-1)!.split(' ')[1]))).toBe(false)
  expect((await said(first.running)).version).toBe('one')
})

test('a second attempt finds the server of the first one', async () => {
  const { open, build } = createWorld()
  const deployer = open()
  const { context } = await build(deployer)
  const first = await deployer.deploy(context)
  expect((await fetch(first.url)).status).toBe(503)
  const second = await deployer.deploy(context)
  expect(second).toEqual(first)
  const { pid } = await said(await deployer.promote!(context, second))
  expect((await said(await deployer.promote!(context, second))).pid).toBe(pid)
})

test('a server that is discarded before it got requests leaves no port', async () => {
  const { open, build } = createWorld()
  const deployer = open()
  const { context } = await build(deployer)
  const started = await deployer.deploy(context)
  await deployer.stop(started, context)
  await expect(fetch(started.url)).rejects.toThrow()
})

test('after a restart the active revision serves at the same URL again, from what was built', async () => {
  const { open, deploy } = createWorld()
  const before = open()
  const { running, context } = await deploy(before)
  await before.close!()
  await expect(fetch(running.url)).rejects.toThrow()
  const after = open()
  const recovered = await after.recover!(context, running)
  expect(recovered).toEqual(running)
  expect((await said(recovered)).version).toBe('one')
})

test('a port that was taken meanwhile is replaced by another one, and the log says so', async () => {
  const { open, deploy } = createWorld()
  const before = open()
  const { running, context, lines } = await deploy(before)
  await before.close!()
  const other = createServer()
  await listen(other, portOf(running))
  onTestFinished(() => void other.close())
  const recovered = await open().recover!(context, running)
  expect(recovered.url).not.toBe(running.url)
  expect(recovered.handle).toEqual({ revisionId: context.revisionId, port: portOf(recovered) })
  expect((await said(recovered)).version).toBe('one')
  expect(lines.filter((line) => line.includes('is in use'))).toEqual([
    `Port ${portOf(running)} is in use. The deployment is now on port ${portOf(recovered)}.`,
  ])
})

test('while a server is recovered, clients are told to come again', async () => {
  const { open, deploy } = createWorld()
  const before = open()
  const { running, context } = await deploy(before)
  await before.close!()
  const recovering = open().recover!(context, running)
  await eventually(async () => (await fetch(running.url).catch(() => undefined))?.status === 503, {
    everyMs: 1,
  })
  await recovering
  expect((await fetch(running.url)).status).toBe(200)
})

test('a redeploy starts what an earlier revision has built', async () => {
  const { open, deploy, write, dir } = createWorld()
  const deployer = open()
  const first = await deploy(deployer)
  write({ 'version.txt': 'two' })
  const second = await deploy(deployer, { previous: first.running })
  const again = { ...first.context, revisionId: 'again', previous: second.running }
  const running = await deployer.promote!(again, await deployer.deploy(again))
  expect(running.url).toBe(first.running.url)
  expect((await said(running)).version).toBe('one')
  rmSync(join(dir, 'deployments', 'deployment-1', second.context.revisionId), { recursive: true })
  await expect(deployer.deploy({ ...second.context, revisionId: 'gone' })).rejects.toThrow(
    'The source of this revision no longer exists: create a new revision.',
  )
  await expect(deployer.deploy({ ...second.context, revisionId: 'gone', artifact: null })).rejects.toThrow(
    'was not built by this deployer',
  )
})

test('the ten revisions that were used last are kept', async () => {
  const { open, deploy, dir } = createWorld()
  const deployer = open()
  let current = await deploy(deployer)
  const first = current
  for (let at = 2; at <= 12; at++) {
    const next = await deploy(deployer, { previous: current.running })
    await deployer.stop(current.running, current.context)
    current = next
    if (at !== 9) continue
    const again = { ...first.context, revisionId: 'again', previous: current.running }
    current = {
      ...current,
      context: again,
      running: await deployer.promote!(again, await deployer.deploy(again)),
    }
  }
  const kept = readdirSync(join(dir, 'deployments', 'deployment-1'))
  expect(kept).toHaveLength(10)
  expect(kept).toContain('revision-1')
  expect(kept).not.toContain('revision-2')
  expect(kept).not.toContain('revision-3')
})

test('a destroyed deployment leaves no process, no port and no folder, and others go on', async () => {
  const { open, deploy, build, dir } = createWorld()
  const deployer = open()
  const kept = await deploy(deployer, { deploymentId: 'other' })
  const first = await deploy(deployer)
  const second = await build(deployer, { previous: first.running })
  await deployer.deploy(second.context)
  const { pid } = await said(first.running)
  await deployer.destroy(first.context)
  expect(isRunning(pid)).toBe(false)
  await expect(fetch(first.running.url)).rejects.toThrow()
  expect(readdirSync(join(dir, 'deployments'))).toEqual(['other'])
  expect((await said(kept.running)).version).toBe('one')
  await deployer.destroy(first.context)
  await deployer.stop(first.running, first.context)
})

test('a closed deployer has ended everything, also what was being started, and starts nothing more', async () => {
  const { open, deploy, build, write } = createWorld()
  const deployer = open()
  const { running, context } = await deploy(deployer)
  const { pid } = await said(running)
  write({ 'server.mjs': `console.log('pid', process.pid); setInterval(() => {}, 1000)` })
  const second = await build(deployer, { deploymentId: 'other' })
  const starting = deployer.deploy(second.context).catch((error: Error) => error)
  await eventually(() => second.lines.some((line) => line.startsWith('pid')))
  await deployer.close!()
  expect([pid, Number(second.lines.at(-1)!.split(' ')[1])].map(isRunning)).toEqual([false, false])
  expect(await starting).toBeInstanceOf(DeployError)
  await expect(fetch(running.url)).rejects.toThrow()
  await expect(deployer.deploy(context)).rejects.toThrow('The deployer is closed.')
})

test('the record has the public URL, and the server the client that the proxy in front names', async () => {
  const { open, deploy, write } = createWorld()
  write({
    'server.mjs': `import { createServer } from 'node:http'
      createServer((req, res) => res.end(JSON.stringify(req.headers))).listen(process.env.PORT)`,
  })
  const deployer = open({ publicUrl: ({ id, name, port }) => `https://${name}.example/${id}/${port}` })
  const { running } = await deploy(deployer)
  const { port } = running.handle as { readonly port: number }
  expect(running.url).toBe(`https://agent.example/deployment-1/${port}`)
  const headers = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' }
  const response = await fetch(`http://127.0.0.1:${port}`, { headers })
  expect(await response.json()).toMatchObject({
    'x-forwarded-for': '203.0.113.9, 127.0.0.1',
    'x-forwarded-proto': 'https',
  })
})

test('without a start command it starts agentwire serve', async () => {
  const { open, deploy, write } = createWorld()
  const ours = JSON.stringify(join(import.meta.dirname, '../../../../src/index.ts'))
  write({
    'langgraph.json': JSON.stringify({ dependencies: ['.'], graphs: { echo: './echo.ts:echo' } }),
    'package.json': '{ "type": "module" }',
    'echo.ts': `import { defineAgent, textOf } from ${ours}
      export const echo = defineAgent({ run: async ({ messages, message }) => void (await message('heard ' + textOf(messages.at(-1)!))) })`,
  })
  const deployer = open({ start: undefined })
  const { running, context } = await deploy(deployer)
  expect(await (await fetch(`${running.url}/ok`)).json()).toEqual({ ok: true })
  const client = new Client({ apiUrl: running.url, apiKey: null })
  expect((await client.threads.create()).thread_id).toBeTypeOf('string')
  await deployer.stop(running, context)
})

const spawn = programs()

test.skipIf(process.platform === 'win32')(
  'when the control plane is killed, its servers end, and a new one recovers them at the same URL',
  async () => {
    const { open, deploy, dir } = createWorld()
    const builder = open()
    const { context, running } = await deploy(builder)
    await builder.close!()
    const parent = spawn(process.execPath, [
      await bundleOf('test/control-plane/deployers/process/host.ts'),
      JSON.stringify({ dir, context: { ...context, signal: undefined, log: undefined }, running }),
    ])
    await parent.output(/^serves /m)
    const { pid } = await said(running)
    expect(isRunning(pid)).toBe(true)
    parent.child.kill('SIGKILL')
    await eventually(() => !isRunning(pid), { timeoutMs: 200_000, what: 'The end of the server' })
    const recovered = await open().recover!(context, running)
    expect(recovered).toEqual(running)
    expect((await said(recovered)).version).toBe('one')
  },
  60_000,
)
