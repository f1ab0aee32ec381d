import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, expect, test } from 'vitest'
import { programs, typescript } from '../kit/program.ts'
import { root } from '../package/package.ts'
import { chat, write } from './projects.ts'

const start = programs()
const folder = mkdtempSync(join(tmpdir(), 'agentwire-control-plane-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const sources = join(folder, 'sources')
const allow = ['--allow-repository', `${pathToFileURL(sources).href}/`]

const agentwire = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  start(process.execPath, [...typescript('cli/main.ts'), 'control-plane', ...args], {
    ...process.env,
    STORAGE_URL: undefined,
    PORT: undefined,
    HOST: undefined,
    AGENTWIRE_API_KEYS: undefined,
    AGENTWIRE_SECRETS_KEY: undefined,
    ...env,
  })

async function serve(args: readonly string[], env?: NodeJS.ProcessEnv) {
  const served = agentwire(['--port', '0', '--json', '--dir', join(folder, 'dir'), ...args], env)
  const [line] = /^\{.*\}$/m.exec(await served.output(/^\{.*\}$/m))!
  const told = JSON.parse(line)
  return { ...served, told, url: told.url as string }
}

const json = { 'content-type': 'application/json' }

const deployment = (name: string, repo_url: string) => ({
  name,
  source: 'github',
  source_config: { repo_url, deployment_type: 'dev', build_on_push: false },
  source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
  secrets: [],
})

test('a folder that is allowed is deployed and chatted with, and ends with the control plane', async () => {
  const source = join(sources, 'echo')
  write(source, { 'langgraph.json': { graphs: { echo: './echo.js' } }, 'package.json': { type: 'module' } })
  await build({
    stdin: {
      contents: `import { defineAgent } from './src/index.ts'
        export default defineAgent({ run: async ({ message }) => void (await message('heard hello')) })`,
      resolveDir: root,
    },
    outfile: join(source, 'echo.js'),
    bundle: true,
    format: 'esm',
    platform: 'node',
  })
  const { url, child, exit } = await serve(allow)
  const created = await fetch(`${url}/v2/deployments`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify(deployment('echo', pathToFileURL(source).href)),
  })
  expect([created.status, await created.clone().text()]).toEqual([201, expect.any(String)])
  const { id } = await created.json()
  const read = async (path = '') => (await fetch(`${url}/v2/deployments/${id}${path}`)).json()
  await expect
    .poll(async () => (await read('/revisions')).resources[0].status, { timeout: 30_000 })
    .toBe('DEPLOYED')
  const { source_config } = await read()
  expect((await chat(source_config.custom_url, 'echo')).texts).toEqual(['hello', 'heard hello'])
  child.kill('SIGTERM')
  expect(await exit).toBe(0)
  await expect(fetch(`${source_config.custom_url}/ok`)).rejects.toThrow()
}, 60_000)

test('keys let in, by their names, and without --allow-uploads a source is not uploaded', async () => {
  const { url, told } = await serve([...allow, '--base-path', '/api-host'], {
    AGENTWIRE_API_KEYS: 'one, ci:two,ci:three',
  })
  expect(told).toMatchObject({ auth: true, deployer: 'process', storage: 'memory:' })
  expect(url).toMatch(/\/api-host$/)
  const call = (key: string, init?: RequestInit) =>
    fetch(`${url}/v2/deployments`, { ...init, headers: { ...json, 'x-api-key': key } })
  expect((await call('four')).status).toBe(401)
  const body = JSON.stringify(deployment('mine', pathToFileURL(join(sources, 'missing')).href))
  expect((await call('two', { method: 'POST', body })).status).toBe(201)
  const count = async (key: string) => (await (await call(key)).json()).resources.length
  expect([await count('one'), await count('two'), await count('three')]).toEqual([0, 1, 1])
  const uploaded = JSON.stringify({
    name: 'uploaded',
    source: 'internal_source',
    source_config: { deployment_type: 'dev' },
    source_revision_config: {},
    secrets: [],
  })
  const refused = await call('one', { method: 'POST', body: uploaded })
  expect([refused.status, await refused.json()]).toEqual([
    400,
    { detail: expect.stringMatching(/--allow-uploads/) },
  ])
  const elsewhere = JSON.stringify(deployment('other', 'https://git.example/other'))
  expect((await call('one', { method: 'POST', body: elsewhere })).status).toBe(400)
})

test('it prints what it serves, and what opting in means', async () => {
  const { output } = agentwire([...allow, '--allow-uploads', '--port', '0', '--dir', join(folder, 'dir')])
  const text = await output(/an account on this machine/)
  expect(text).toMatch(/agentwire control-plane listens on http:\/\/127\.0\.0\.1:\d+\n/)
  expect(text).toMatch(/keys +none: everybody on this machine may deploy/)
  expect(text).toMatch(
    /It builds and runs whatever clients upload and the code of file:.*, with all rights of this user/,
  )
})

test('a storage that is durable needs a key for secrets, and keeps its deployments', async () => {
  const storage = ['--storage', join(folder, 'control-plane.db')]
  const without = agentwire([...allow, ...storage, '--port', '0'])
  expect(await without.exit).toBe(1)
  expect(without.text()).toMatch(/needs --secrets-key or AGENTWIRE_SECRETS_KEY/)
  const env = { AGENTWIRE_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') }
  const first = await serve([...allow, ...storage], env)
  const body = JSON.stringify(deployment('kept', pathToFileURL(join(sources, 'missing')).href))
  await fetch(`${first.url}/v2/deployments`, { method: 'POST', headers: json, body })
  first.child.kill('SIGINT')
  expect(await first.exit).toBe(0)
  const second = await serve([...allow, ...storage], env)
  const { resources } = await (await fetch(`${second.url}/v2/deployments`)).json()
  expect(resources).toMatchObject([{ name: 'kept' }])
})

test.each([
  [[], /Say what it may run: --allow-uploads, --allow-repository URL, or both/],
  [['--allow-uploads', '--host', '0.0.0.0'], /everybody who reaches it could deploy code/],
  [['--allow-uploads', '--host', '0.0.0.0', '--api-key', 'name:'], /API key 1: it takes KEY or NAME:KEY/],
  [['--deployer', 'other'], /--deployer takes one of process, and not “other”/],
  [['--allow-uploads', '--show-secrets', 'all'], /--show-secrets takes one of masked, plaintext, none/],
  [['--allow-uploads', '--frob'], /Unknown option '--frob'/],
])('%j makes no sense: 2, and how it would', async (args, why) => {
  const { exit, text } = agentwire(args)
  expect(await exit).toBe(2)
  expect(text()).toMatch(why)
  expect(text()).toContain('--secrets-key KEY')
})

test('a repository that is no URL is refused before it listens', async () => {
  const { exit, text } = agentwire(['--allow-repository', 'git@host:team', '--port', '0'])
  expect(await exit).toBe(1)
  expect(text()).toMatch(/allowRepositories: "git@host:team"/)
})
