import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packProject } from '../../src/cli/deploy/pack.ts'
import { run } from '../../src/cli/run.ts'
import { KEY, serveControlPlane, writeProject } from '../control-plane/support/deploying.ts'
import { chat, write } from './projects.ts'

let plane: Awaited<ReturnType<typeof serveControlPlane>>
let config = ''
const folder = mkdtempSync(join(tmpdir(), 'agentwire-deploy-'))

beforeAll(async () => {
  plane = await serveControlPlane()
  mkdirSync(join(plane.place, 'project'))
  config = join(plane.place, 'project', 'langgraph.json')
})
afterAll(async () => {
  await plane?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** What a command line has printed, and its exit code. */
async function agentwire(
  args: readonly string[],
  { key = KEY, url = plane.base, answer = undefined as string | undefined } = {},
) {
  const printed: string[] = []
  const code = await run(args, {
    env: { AGENTWIRE_CONTROL_PLANE_URL: url, AGENTWIRE_API_KEY: key },
    out: (text) => printed.push(text),
    problem: (text) => printed.push(text),
    ...(answer !== undefined && { ask: async () => answer }),
  })
  return { code, text: printed.join('\n') }
}

const word = (name: string, build = '') => writeProject(join(plane.place, 'project'), `'${name}'`, build)
const deploy = (...more: readonly string[]) =>
  agentwire(['deploy', '--name', 'mine', '--config', config, ...more])

test('deploy, list, logs, rollback and delete, with what is shown on the way', async () => {
  word('first')
  const first = await deploy('--secret', 'GREETING=hello')
  expect(first).toEqual({
    code: 0,
    text: expect.stringMatching(
      /Uploading [\d.]+ \w+ as mine\nStatus and logs: http\S+\/o\/\S+\/host\/deployments\/\S+\n[\s\S]*BUILDING +\d[\s\S]*DEPLOYED +\d.*\nmine is deployed at http/,
    ),
  })
  const [, url] = /deployed at (\S+)/.exec(first.text)!
  const { threadId, texts } = await chat(url!, 'agent')
  expect(texts[1]).toBe('first hello')

  word('second')
  const { code, text } = await deploy('--json')
  expect([code, JSON.parse(text)]).toEqual([
    0,
    expect.objectContaining({ name: 'mine', status: 'DEPLOYED', url }),
  ])
  // The thread is that of the revision before.
  expect((await chat(url!, 'agent', threadId)).texts).toEqual([
    'hello',
    'first hello',
    'hello',
    'second hello',
  ])
  expect((await agentwire(['list'])).text).toMatch(new RegExp(`^mine +READY +${url}`, 'm'))

  expect((await agentwire(['list', 'mine'])).text).toMatch(
    /^REVISION +STATUS +CREATED\n2 +DEPLOYED \(active\) +\S+\n1 +DEPLOYED +\S+$/,
  )
  expect(JSON.parse((await agentwire(['list', 'mine', '--json'])).text)).toMatchObject([
    { revision_number: 2 },
    { revision_number: 1 },
  ])

  const back = await agentwire(['rollback', 'mine'])
  expect(back).toEqual({
    code: 0,
    text: expect.stringMatching(/Rolling mine back to revision 1\n[\s\S]*mine is deployed/),
  })
  expect((await chat(url!, 'agent')).texts[1]).toBe('first hello')
  expect((await agentwire(['rollback', 'mine', '2'])).code).toBe(0)
  expect((await chat(url!, 'agent')).texts[1]).toBe('second hello')
  expect(await agentwire(['rollback', 'mine', '99'])).toEqual({ code: 1, text: 'mine has no revision 99.' })

  await expect.poll(async () => (await agentwire(['logs', 'mine'])).text).toMatch(/INFO +.*POST \/threads/)
  expect((await agentwire(['logs', 'mine', '--lines', '1', '--json'])).text.split('\n')).toHaveLength(1)

  word('broken', 'process.exit(2)')
  write(join(plane.place, 'project'), {
    'package.json': { scripts: { preinstall: 'node build.mjs' }, dependencies: { a: 'file:./a' } },
  })
  expect(await deploy()).toEqual({
    code: 1,
    text: expect.stringMatching(
      /\nmine is not deployed: \w+_FAILED\. [\s\S]*\nRevision 4 of mine still serves at http\S+\.$/,
    ),
  })

  expect(await agentwire(['delete', 'mine'], { answer: 'n' })).toEqual({ code: 1, text: '' })
  expect(await agentwire(['delete', 'mine'])).toEqual({ code: 2, text: expect.stringContaining('--yes') })
  expect(await agentwire(['delete', 'mine', '--yes'])).toEqual({ code: 0, text: 'mine is deleted.' })
  await expect.poll(async () => (await agentwire(['list'])).text).toBe('No deployments.')
})

test('a package of a workspace is deployed with its workspace, and with the commands of the command line', async () => {
  const place = join(plane.place, 'monorepo')
  const own = join(place, 'apps/agent')
  write(place, { 'package.json': { workspaces: ['apps/*'] }, 'shared.txt': 'shared' })
  mkdirSync(own, { recursive: true })
  writeProject(own, `'member'`)
  const note = `node -e "require('fs').writeFileSync('noted', require('fs').readFileSync('shared.txt'))"`
  const check = `node -e "console.log('built with ' + require('fs').readFileSync('../../noted'))"`
  const config = join(own, 'langgraph.json')
  const commands = ['--install-command', note, '--build-command', check]
  const deployed = await agentwire(['deploy', '--name', 'member', '--config', config, ...commands])
  expect(deployed.code, deployed.text).toBe(0)
  expect((await agentwire(['logs', 'member', '--build'])).text).toContain('built with shared')
  expect((await agentwire(['delete', 'member', '--yes'])).code).toBe(0)
})

test('a build that fails ends the command with 1, its log and the reason; logs --build has it, too', async () => {
  word('third', "console.log('a line of the build'); process.exit(2)")
  write(join(plane.place, 'project'), {
    'package.json': { scripts: { preinstall: 'node build.mjs' }, dependencies: { a: 'file:./a' } },
  })
  const failed = await agentwire(['deploy', '--name', 'failing', '--config', config])
  expect(failed).toEqual({
    code: 1,
    text: expect.stringMatching(/ {2}│ [\s\S]*BUILD_FAILED[\s\S]*failing is not deployed: BUILD_FAILED\. /),
  })
  const { text } = await agentwire(['logs', 'failing', '--build'])
  expect(text).toContain('a line of the build')
})

describe('what goes wrong is told in a sentence', () => {
  test('no control plane, a wrong key, an unknown name, a wrong request', async () => {
    const away = await agentwire(['list'], { url: 'http://127.0.0.1:9' })
    expect(away).toEqual({
      code: 1,
      text: expect.stringMatching(
        /^The control plane cannot be reached at http:\/\/127\.0\.0\.1:9: (?!fetch failed).+\.\nStart one with .*--url/,
      ),
    })
    expect(await agentwire(['list'], { key: 'wrong' })).toEqual({
      code: 1,
      text: expect.stringMatching(/^The control plane returned 401: .*\n.*AGENTWIRE_API_KEY/),
    })
    expect(await agentwire(['logs', 'nobody'])).toEqual({
      code: 1,
      text: expect.stringMatching(/^No deployment named “nobody”\./),
    })
    const image = await agentwire(['deploy', '--name', 'image', '--image', 'example/agent:1'])
    expect(image).toEqual({
      code: 1,
      text: expect.stringMatching(/^Deploying[^\n]+\nThe control plane returned 400: .*external_docker/),
    })
    expect((await agentwire(['logs'])).code).toBe(2)
    const nowhere = ['deploy', '--config', join(folder, 'nowhere', 'langgraph.json')]
    expect(await agentwire(nowhere, { url: 'http://127.0.0.1:9' })).toEqual({
      code: 2,
      text: expect.stringMatching(/langgraph\.json does not exist\. .*--config FILE/),
    })
    expect((await agentwire(['deploy', '--secret', 'X'])).code).toBe(2)
  })
})

describe('an upload', () => {
  /** The names in a tar.gz. */
  async function names(): Promise<readonly string[]> {
    const archive = join(folder, 'packed.tar.gz')
    writeFileSync(archive, await packProject(join(folder, 'project')))
    return execFileSync('tar', ['tzf', archive], { encoding: 'utf8' }).trim().split('\n').sort()
  }

  test('has the files of the project, without packages, databases, credentials and what git ignores', async () => {
    write(join(folder, 'project'), {
      'langgraph.json': {},
      'src/a.ts': 'a',
      '.env': 'KEY=1',
      '.envrc': 'export KEY=1',
      '.npmrc': '//registry.npmjs.org/:_authToken=1',
      'certificates/server.pem': 'key',
      'threads.db': 'db',
      'node_modules/x/index.js': 'x',
      'ignored.txt': 'no',
      '.gitignore': 'ignored.txt\n',
    })
    const all = ['.gitignore', 'ignored.txt', 'langgraph.json', 'src/a.ts']
    expect(await names()).toEqual(all)
    execFileSync('git', ['init', '--quiet'], { cwd: join(folder, 'project') })
    expect(await names()).toEqual(all.filter((name) => name !== 'ignored.txt'))
    expect(readFileSync(join(folder, 'packed.tar.gz')).byteLength).toBeGreaterThan(100)
  })

  test('has the files of a folder that a repository around it ignores', async () => {
    const outer = join(folder, 'outer')
    write(outer, {
      '.gitignore': 'generated\n',
      'generated/app/langgraph.json': {},
      'generated/app/a.js': '',
    })
    execFileSync('git', ['init', '--quiet'], { cwd: outer })
    const archive = join(folder, 'ignored.tar.gz')
    writeFileSync(archive, await packProject(join(outer, 'generated/app')))
    const names = execFileSync('tar', ['tzf', archive], { encoding: 'utf8' }).trim().split('\n')
    expect(names.sort()).toEqual(['a.js', 'langgraph.json'])
  })
})
