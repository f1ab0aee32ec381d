import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { openServer } from '../kit/listen.ts'
import { programs, typescript } from '../kit/program.ts'
import { root } from '../package/package.ts'
import { chat, write } from './projects.ts'

const start = programs()
const folder = mkdtempSync(join(tmpdir(), 'agentwire-control-plane-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const sources = join(folder, 'sources')
const allow = ['--allow-repository', `${pathToFileURL(sources).href}/`]

const agentwire = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  start(process.execPath, [...typescript('src/cli/main.ts'), 'control-plane', ...args], {
    ...process.env,
    STORAGE_URL: undefined,
    PORT: undefined,
    HOST: undefined,
    AGENTWIRE_API_KEYS: 'key',
    AGENTWIRE_SECRETS_KEY: undefined,
    ...env,
  })

async function serve(args: readonly string[], env?: NodeJS.ProcessEnv) {
  const served = agentwire(['--port', '0', '--json', '--dir', join(folder, 'dir'), ...args], env)
  const [line] = /^\{.*\}$/m.exec(await served.output(/^\{.*\}$/m))!
  const told = JSON.parse(line)
  return { ...served, told, url: told.url as string }
}

const key = { 'x-api-key': 'key' }
const json = { ...key, 'content-type': 'application/json' }

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
  const read = async (path = '') =>
    (await fetch(`${url}/v2/deployments/${id}${path}`, { headers: key })).json()
  await expect
    .poll(async () => (await read('/revisions')).resources[0].status, { timeout: 240_000 })
    .toBe('DEPLOYED')
  const { source_config } = await read()
  expect((await chat(source_config.custom_url, 'echo')).texts).toEqual(['hello', 'heard hello'])
  child.kill('SIGTERM')
  expect(await exit).toBe(0)
  await expect(fetch(`${source_config.custom_url}/ok`)).rejects.toThrow()
})

test('keys let in, by their names, and without --allow-uploads a source is not uploaded', async () => {
  const { url, told } = await serve([...allow, '--base-path', '/api-host'], {
    AGENTWIRE_API_KEYS: 'one, ci:two,ci:three',
  })
  expect(told).toEqual(expect.objectContaining({ deployer: 'process', storage: 'memory:' }))
  expect(told).not.toHaveProperty('api_key')
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
  expect(text).toMatch(/keys +of /)
  expect(text).toMatch(
    /Warning: it builds and runs whatever clients upload and code from file:.* with all permissions of this user/,
  )
})

test('without keys it makes one and prints it, and lets nobody in who does not have it', async () => {
  const env = { AGENTWIRE_API_KEYS: undefined }
  const text = await agentwire([...allow, '--port', '0', '--dir', join(folder, 'dir')], env).output(
    /account on/,
  )
  expect(text).toMatch(/keys +generated for this process; send it as the header X-Api-Key: [-0-9a-f]{36}\n/)
  const { url, told } = await serve(allow, env)
  const status = async (headers: Record<string, string>) =>
    (await fetch(`${url}/v2/deployments`, { headers })).status
  expect([await status({}), await status({ 'x-api-key': told.api_key })]).toEqual([401, 200])
})

test('a storage that is durable needs a key for secrets, and keeps its deployments', async () => {
  const storage = ['--storage', join(folder, 'control-plane.db')]
  const without = agentwire([...allow, ...storage, '--port', '0'])
  expect(await without.exit).toBe(1)
  expect(without.text()).toMatch(/requires --secrets-key or AGENTWIRE_SECRETS_KEY/)
  const env = { AGENTWIRE_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') }
  const first = await serve([...allow, ...storage], env)
  const body = JSON.stringify(deployment('kept', pathToFileURL(join(sources, 'missing')).href))
  await fetch(`${first.url}/v2/deployments`, { method: 'POST', headers: json, body })
  const instance = readFileSync(join(folder, 'dir', 'instance'), 'utf8')
  first.child.kill('SIGINT')
  expect(await first.exit).toBe(0)
  const second = await serve([...allow, ...storage], env)
  // What a killed process held is known by this name as its own.
  expect(instance).not.toBe('')
  expect(readFileSync(join(folder, 'dir', 'instance'), 'utf8')).toBe(instance)
  const { resources } = await (await fetch(`${second.url}/v2/deployments`, { headers: key })).json()
  expect(resources).toMatchObject([{ name: 'kept' }])
})

test.each([
  [[], /Choose what it may run: --allow-uploads, --allow-repository URL, or both/],
  [['--allow-uploads', '--host', '0.0.0.0'], /anyone who can reach this server could deploy code/],
  [['--allow-uploads', '--host', '0.0.0.0', '--api-key', 'name:'], /API key 1: expected KEY or NAME:KEY/],
  [['--deployer', 'other'], /--deployer must be one of process, command, kubernetes, not “other”/],
  [
    ['--deployer', 'command'],
    /The command deployer reads its options from a file: pass --deployer-config FILE/,
  ],
  [['--deployer', 'kubernetes', '--allow-uploads'], /--allow-uploads is an option of the process deployer/],
  [
    ['--allow-uploads', '--deployer-config', 'a.json'],
    /--deployer-config is an option of the command and kubernetes/,
  ],
  [['--allow-uploads', '--show-secrets', 'all'], /--show-secrets must be one of masked, plaintext, none/],
  [['--allow-uploads', '--frob'], /Unknown option '--frob'/],
])('%j makes no sense: 2, and where to read how it would', async (args, why) => {
  const { exit, text } = agentwire(args, { AGENTWIRE_API_KEYS: undefined })
  expect(await exit).toBe(2)
  expect(text()).toMatch(why)
  expect(text()).toContain('agentwire control-plane --help')
})

const configured = (name: string, config: unknown) => {
  const file = join(folder, `${name}.json`)
  writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config))
  return ['--deployer', name, '--deployer-config', file, '--port', '0', '--json']
}

const IMAGE = {
  name: 'image',
  source: 'external_docker',
  source_config: { resource_spec: {} },
  source_revision_config: { image_uri: 'registry.example/agent:1' },
  secrets: [],
}

/** Creates a deployment of an image, and gives its revision once that has come to an end. */
async function deployImage(args: readonly string[], env?: NodeJS.ProcessEnv) {
  const { output } = agentwire(args, env)
  const [line] = /^\{.*\}$/m.exec(await output(/^\{.*\}$/m))!
  const { url, deployer } = JSON.parse(line)
  const body = JSON.stringify(IMAGE)
  const created = await fetch(`${url}/v2/deployments`, { method: 'POST', headers: json, body })
  expect(created.status).toBe(201)
  const { id, latest_revision_id } = await created.json()
  const headers = { ...key, prefer: 'wait=15' }
  const revision = await fetch(`${url}/v2/deployments/${id}/revisions/${latest_revision_id}`, { headers })
  const deployment = await (await fetch(`${url}/v2/deployments/${id}`, { headers: key })).json()
  return { deployer, status: (await revision.json()).status, deployment }
}

test('the programs of a file are asked to deploy', async () => {
  const program = [
    process.execPath,
    '-e',
    `let told = ''
     process.stdin.on('data', (piece) => { told += piece }).on('end', () => {
       const { source_revision_config, deployment } = JSON.parse(told)
       const url = 'http://127.0.0.1:9/' + deployment.name + '/' + source_revision_config.image_uri.split(':')[1]
       console.log(JSON.stringify({ result: { url, handle: 1 } }))
     })`,
  ]
  const deployed = await deployImage(
    configured('command', { deploy: program, stop: program, destroy: program }),
  )
  expect(deployed).toMatchObject({
    deployer: 'command',
    status: 'DEPLOYED',
    deployment: { source_config: { custom_url: 'http://127.0.0.1:9/image/1' } },
  })
})

test('the cluster of KUBECONFIG is asked to deploy', async () => {
  const asked: string[] = []
  const cluster = await openServer(
    createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      response.writeHead(403, { 'content-type': 'application/json' }).end('{"message":"no"}')
    }),
  )
  onTestFinished(() => cluster.close())
  const kubeConfig = join(folder, 'kube.json')
  const named = (name: string, rest: object) => [{ name, ...rest }]
  writeFileSync(
    kubeConfig,
    JSON.stringify({
      'current-context': 'one',
      clusters: named('one', { cluster: { server: cluster.origin, 'insecure-skip-tls-verify': true } }),
      users: named('one', { user: { token: 'token' } }),
      contexts: named('one', { context: { cluster: 'one', user: 'one' } }),
    }),
  )
  const { deployer, status } = await deployImage(configured('kubernetes', { namespace: 'agents' }), {
    KUBECONFIG: kubeConfig,
  })
  expect([deployer, status]).toEqual(['kubernetes', 'DEPLOY_FAILED'])
  expect(asked[0]).toMatch(/^PATCH \/api\/v1\/namespaces\/agents\/secrets\//)
})

test.each([
  ['command', { deploy: ['a'], stop: ['a'] }, /command\.json: destroy: Field required/],
  [
    'command',
    { deploy: 'a', stop: ['a'], destroy: [] },
    /deploy: Input should be a valid list; destroy: List/,
  ],
  [
    'command',
    { deploy: ['a'], stop: ['a'], destroy: ['a'], stopp: 1 },
    /unknown option stopp\. Known options:/,
  ],
  ['kubernetes', { namespaces: ['a'] }, /kubernetes\.json: namespace: Field required/],
  ['kubernetes', '[]', /the whole value: Input should be a valid dictionary/],
  ['kubernetes', '{', /kubernetes\.json cannot be read: /],
])('the deployer %s does not start with %j', async (name, config, why) => {
  const { exit, text } = agentwire(configured(name, config))
  expect(await exit).toBe(1)
  expect(text()).toMatch(why)
})

test('a repository that is no URL is refused before it listens', async () => {
  const { exit, text } = agentwire(['--allow-repository', 'git@host:team', '--port', '0'])
  expect(await exit).toBe(1)
  expect(text()).toMatch(/allowRepositories: "git@host:team"/)
})
