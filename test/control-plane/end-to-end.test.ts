import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chat } from '../cli/projects.ts'
import { KEY, serveControlPlane, writeProject } from './support/deploying.ts'
import { validator } from './support/validate.ts'

let served: Awaited<ReturnType<typeof serveControlPlane>>
let base = ''
let work = ''
let bare = ''
let validate: ReturnType<typeof validator>

const git = (...args: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...args], {
    cwd: work,
    stdio: 'pipe',
  })

/** Pushes a graph that answers with a word, and a script for its build. */
function push(word: string, build = ''): void {
  writeProject(work, word, build)
  git('add', '.')
  git('commit', '-q', '-m', word)
  git('push', '-q', 'origin', 'HEAD:main')
}

beforeAll(async () => {
  served = await serveControlPlane()
  base = served.base
  work = join(served.place, 'work')
  bare = join(served.repositories, 'agent.git')
  mkdirSync(work)
  execFileSync('git', ['init', '-q', '--bare', bare])
  git('init', '-q', '-b', 'main')
  git('remote', 'add', 'origin', bare)
  validate = validator(await (await fetch(`${base}/openapi.json`)).json(), '/api-host')
})
afterAll(() => served?.close())

// biome-ignore lint/suspicious/noExplicitAny: bodies of the API, whose fields the tests name
type Body = any

async function call(method: string, path: string, body?: unknown, status = 200): Promise<Body> {
  const response = await fetch(base + path, {
    method,
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.clone().text()
  expect([response.status, text]).toEqual([status, expect.anything()])
  await validate(method, base + path, response)
  return text === '' ? undefined : JSON.parse(text)
}

async function untilFinal(id: string, revisionId: string): Promise<string> {
  let status = ''
  await expect
    .poll(
      async () => ({ status } = await call('GET', `/v2/deployments/${id}/revisions/${revisionId}`)).status,
      { timeout: 240_000 },
    )
    .toMatch(/DEPLOYED|FAILED|SKIPPED|INTERRUPTED/)
  return status
}

test('the whole life of a deployment from a git repository', async () => {
  push("'first'")
  const { id, latest_revision_id: first } = await call(
    'POST',
    '/v2/deployments',
    {
      name: 'my-agent',
      source: 'github',
      source_config: {
        integration_id: crypto.randomUUID(),
        repo_url: `file://${bare}`,
        deployment_type: 'dev',
        build_on_push: false,
        install_command: `${process.execPath} --version`,
        build_command: `${process.execPath} build.mjs`,
      },
      source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
      secrets: [{ name: 'MY_SECRET', value: 'nobody may see this' }],
    },
    201,
  )
  expect(await untilFinal(id, first)).toBe('DEPLOYED')
  const deployed = await call('GET', `/v2/deployments/${id}`)
  expect(deployed).toMatchObject({
    status: 'READY',
    active_revision_id: first,
    secrets: [{ name: 'MY_SECRET' }],
    source_revision_config: { repo_commit_sha: git('rev-parse', 'HEAD').toString().trim() },
  })
  expect(JSON.stringify(deployed)).not.toContain('nobody may see this')
  const url: string = deployed.source_config.custom_url
  const answer = async () => (await chat(url, 'agent')).texts[1]
  expect(await answer()).toBe('first hello')

  // A new commit, with requests all the time: none fails, and none is answered by a server that is not there.
  push("'second'")
  let isSwitching = true
  const statuses: number[] = []
  const asking = Array.from({ length: 4 }, async () => {
    while (isSwitching) statuses.push((await fetch(`${url}/ok`)).status)
  })
  const patched = await call('PATCH', `/v2/deployments/${id}`, {
    source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
  })
  const second = patched.latest_revision_id
  expect(second).not.toBe(first)
  expect(await untilFinal(id, second)).toBe('DEPLOYED')
  expect(await answer()).toBe('second hello')
  isSwitching = false
  await Promise.all(asking)
  expect(statuses.length).toBeGreaterThan(10)
  expect(new Set(statuses)).toEqual(new Set([200]))

  // A build that fails: the old one still answers, and the log says why.
  push("'third'", "console.log('compiling'); console.error('syntax error in line 3'); process.exit(3)")
  const broken = await call('POST', `/v2/deployments/${id}/revisions`, {}, 201)
  expect(await untilFinal(id, broken.id)).toBe('BUILD_FAILED')
  expect(await answer()).toBe('second hello')
  expect((await call('GET', `/v2/deployments/${id}`)).active_revision_id).toBe(second)
  const { logs } = await call('GET', `/v2/deployments/${id}/revisions/${broken.id}/logs?type=build`)
  const lines = logs.map(({ message }: Body) => message)
  expect(lines).toEqual(expect.arrayContaining(['compiling', 'syntax error in line 3']))
  expect(lines.at(-1)).toMatch(/BUILD_FAILED.*3/)

  // Back to the first one, which is not built again.
  const again = await call('POST', `/v2/deployments/${id}/revisions/${first}/redeploy`)
  expect(await untilFinal(id, again.latest_revision_id)).toBe('DEPLOYED')
  expect(await answer()).toBe('first hello')

  const revisions = await call('GET', `/v2/deployments/${id}/revisions`)
  expect(revisions.resources.map(({ id, status }: Body) => [id, status])).toEqual([
    [again.latest_revision_id, 'DEPLOYED'],
    [broken.id, 'BUILD_FAILED'],
    [second, 'DEPLOYED'],
    [first, 'DEPLOYED'],
  ])

  await call('DELETE', `/v2/deployments/${id}`, undefined, 204)
  await expect
    .poll(
      async () => (await fetch(`${base}/v2/deployments/${id}`, { headers: { 'x-api-key': KEY } })).status,
      {
        timeout: 240_000,
      },
    )
    .toBe(404)
  expect(await refuses(Number(new URL(url).port))).toBe('ECONNREFUSED')
})

const refuses = (port: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(undefined)
    })
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code))
  })
