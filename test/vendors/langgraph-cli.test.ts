import { mkdirSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openStorage } from '../../src/storage/open.ts'
import { chat } from '../cli/projects.ts'
import { KEY, serveControlPlane, writeProject } from '../control-plane/support/deploying.ts'
import { postgres, redis } from '../kit/backends.ts'
import { openServer } from '../kit/listen.ts'
import { type Program, programs } from '../kit/program.ts'
import { root } from '../package/package.ts'

/** The vendor's command-line tool, as it is published. */
const CLI = join(root, 'test/vendors/node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs')
const spawn = programs()

let served: Awaited<ReturnType<typeof serveControlPlane>>
let project = ''

beforeAll(async () => {
  served = await serveControlPlane()
  project = join(served.place, 'project')
  mkdirSync(project)
})
afterAll(() => served?.close())

const cli = (...args: readonly string[]): Program => cliAt(served.base, ...args)

const cliAt = (base: string, ...args: readonly string[]): Program =>
  spawn(process.execPath, [CLI, 'deploy', ...args, '--host-url', base, '--api-key', KEY], {
    ...process.env,
    LANGSMITH_TENANT_ID: undefined,
    LANGGRAPH_CLI_NO_ANALYTICS: '1',
  })

/** What it has printed, once it has ended with this code. */
async function text(program: Program, code = 0): Promise<string> {
  expect(await program.exit, program.text()).toBe(code)
  return program.text()
}

test('deploy --remote, list, revisions list, logs and delete succeed, and a failing build exits with 1 and the end of its log', async () => {
  writeProject(project, "'first'")
  const deploy = (...more: readonly string[]) =>
    cli(
      '--remote',
      '--no-input',
      '--name',
      'from-the-cli',
      '--config',
      join(project, 'langgraph.json'),
      ...more,
    )

  await text(deploy('--json'))
  const headers = { 'x-api-key': KEY }
  const list = async () =>
    (
      (await (await fetch(`${served.base}/v2/deployments`, { headers })).json()) as {
        resources: {
          id: string
          name: string
          source_config: { custom_url: string }
          latest_revision_id: string
        }[]
      }
    ).resources
  const [deployment] = await list()
  expect(deployment).toMatchObject({ name: 'from-the-cli' })
  const {
    id,
    source_config: { custom_url: url },
  } = deployment!
  expect((await chat(url, 'agent')).texts[1]).toBe('first hello')

  writeProject(project, "'second'")
  await text(deploy('--verbose'))
  expect(await list()).toHaveLength(1)
  expect((await chat(url, 'agent')).texts[1]).toBe('second hello')

  writeProject(project, "'third'", "console.log('a line of the build'); process.exit(2)")
  const failed = await text(deploy('--build-command', `${process.execPath} build.mjs`), 1)
  expect(failed).toContain('a line of the build')
  expect((await chat(url, 'agent')).texts[1]).toBe('second hello')

  expect(await text(cli('list'))).toContain('from-the-cli')
  const revisions = await text(cli('revisions', 'list', id))
  for (const status of ['BUILD_FAILED', 'DEPLOYED', 'REPLACED']) expect(revisions).toContain(status)
  expect(await text(cli('logs', '--name', 'from-the-cli', '--type', 'build'))).toContain(
    'a line of the build',
  )
  await text(cli('logs', '--deployment-id', id))
  await text(cli('delete', id, '--force'))
  await expect.poll(list).toEqual([])
})

/** Sends each request to the next one, as load balancers do, with the host that the client has called. */
async function roundRobin(origins: readonly string[]) {
  let turn = 0
  const server = createServer((req, res) => {
    const { hostname, port } = new URL(origins[turn++ % origins.length]!)
    const { method, url: path, headers } = req
    const sent = request({ hostname, port, method, path, headers }, (answer) => {
      res.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(res)
    })
    sent.on('error', () => res.destroy())
    req.pipe(sent)
  })
  return openServer(server)
}

describe.each([postgres, redis])('two instances over one $name, each with a folder of its own', (backend) => {
  test.skipIf(!backend.installed())(
    'deploy --remote succeeds time after time, whichever of them gets which request',
    async () => {
      const database = await backend.create()
      const storages = await Promise.all([openStorage(database.url), openStorage(database.url)])
      await storages[0]!.setup()
      const secrets = { key: Buffer.alloc(32, 7).toString('base64') }
      const instances = await Promise.all(
        storages.map(({ store }) => serveControlPlane({ store, secrets, basePath: '/' })),
      )
      const balancer = await roundRobin(instances.map(({ base }) => base))
      onTestFinished(async () => {
        await balancer.close()
        for (const instance of instances) await instance.close()
        for (const storage of storages) await storage.close()
        await database.remove()
      })
      const folder = join(instances[0]!.place, 'project')
      mkdirSync(folder)
      const headers = { 'x-api-key': KEY }
      for (const word of ['one', 'two', 'three', 'four']) {
        writeProject(folder, `'${word}'`)
        const config = join(folder, 'langgraph.json')
        const name = word === 'four' ? 'another' : 'the-same'
        await text(
          cliAt(balancer.origin, '--remote', '--no-input', '--json', '--name', name, '--config', config),
        )
        const list = await (await fetch(`${balancer.origin}/v2/deployments?name=${name}`, { headers })).json()
        const [deployment] = (list as { resources: { source_config: { custom_url: string } }[] }).resources
        expect((await chat(deployment!.source_config.custom_url, 'agent')).texts[1]).toBe(`${word} hello`)
      }
    },
    240_000,
  )
})
