import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chat } from '../cli/projects.ts'
import { type Program, programs } from '../kit/program.ts'
import { root } from '../package/package.ts'
import { KEY, serveControlPlane, writeProject } from './support/deploying.ts'

/** The vendor's command-line tool, as it is published. */
const CLI = join(root, 'node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs')
const spawn = programs()

let served: Awaited<ReturnType<typeof serveControlPlane>>
let project = ''

beforeAll(async () => {
  served = await serveControlPlane()
  project = join(served.place, 'project')
  mkdirSync(project)
})
afterAll(() => served?.close())

const cli = (...args: readonly string[]): Program =>
  spawn(process.execPath, [CLI, 'deploy', ...args, '--host-url', served.base, '--api-key', KEY], {
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
  await expect.poll(list, { timeout: 15_000 }).toEqual([])
}, 180_000)
