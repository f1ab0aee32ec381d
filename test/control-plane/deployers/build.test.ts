import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DeployError } from '../../../src/control-plane/deployers/deployer.ts'
import {
  type BuildOptions,
  buildSource,
  splitCommand,
} from '../../../src/control-plane/deployers/process/build.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentwire-build-'))
  // Stand-ins for the package managers, which say where and how they were called.
  for (const name of ['npm', 'pnpm', 'yarn', 'bun']) await writeProgram(name, '1.22.22')
})

const writeProgram = (name: string, version: string) =>
  write(
    `programs/${name}`,
    `#!${process.execPath}\nconst { basename } = require('node:path')\nconst [, path, ...args] = process.argv\nconsole.log(...(args[0] === '--version' ? ['${version}'] : [basename(process.cwd()), basename(path), ...args]))\n`,
  )

afterEach(() => rm(folder, { recursive: true, force: true }))

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text, { mode: 0o755 })
}

interface Build extends Partial<BuildOptions> {
  readonly installCommand?: string
  readonly buildCommand?: string
}

async function build({ installCommand, buildCommand, ...options }: Build = {}): Promise<readonly string[]> {
  const lines: string[] = []
  await buildSource({
    folder: join(folder, 'root'),
    configPath: 'langgraph.json',
    sourceConfig: { install_command: installCommand, build_command: buildCommand },
    env: { PATH: `${join(folder, 'programs')}${delimiter}${process.env.PATH}` },
    signal: new AbortController().signal,
    log: (line) => lines.push(line),
    ...options,
  })
  return lines
}

const withDependencies = JSON.stringify({ dependencies: { x: '1.0.0' } })

describe('what is installed by itself', () => {
  test.each([
    ['package-lock.json', 'npm ci'],
    ['npm-shrinkwrap.json', 'npm ci'],
    ['pnpm-lock.yaml', 'pnpm install --frozen-lockfile'],
    ['yarn.lock', 'yarn install --frozen-lockfile'],
    ['bun.lock', 'bun install --frozen-lockfile'],
    ['bun.lockb', 'bun install --frozen-lockfile'],
    ['README.md', 'npm install'],
  ])('with a %s: %s', async (lockFile, command) => {
    await write('root/package.json', withDependencies)
    await write(`root/${lockFile}`, '')
    expect(await build()).toEqual([`> ${command}`, `root ${command}`])
  })

  test('with the settings of a later Yarn: yarn install --immutable', async () => {
    await write('root/package.json', withDependencies)
    await write('root/yarn.lock', '')
    await write('root/.yarnrc.yml', '')
    await writeProgram('yarn', '4.9.1')
    expect(await build()).toEqual(['> yarn install --immutable', 'root yarn install --immutable'])
  })

  const YARN = { 'yarn.lock': '' }
  const PNPM = { 'pnpm-lock.yaml': "lockfileVersion: '6.0'" }
  test.each([
    [
      'the Yarn that is named',
      YARN,
      'yarn@1.22.22+sha1.ac34549e6aa8e7ead463a7407e1c7390f61a6610',
      'yarn@1.22.22',
    ],
    ['the first Yarn', YARN, undefined, 'yarn@1'],
    ['a later Yarn', { ...YARN, '.yarnrc.yml': '' }, undefined, '@yarnpkg/cli-dist@4'],
    ['a later Yarn that is named', { ...YARN, '.yarnrc.yml': '' }, 'yarn@3.8.1', '@yarnpkg/cli-dist@3.8.1'],
    ['the pnpm that is named', PNPM, 'pnpm@11.23.0', 'pnpm@11.23.0'],
    ['a pnpm that reads its lock file', PNPM, undefined, 'pnpm@8'],
    [
      'the newest pnpm for a new lock file',
      { 'pnpm-lock.yaml': "lockfileVersion: '9.0'" },
      undefined,
      'pnpm@10',
    ],
  ])('by npx with %s, where it is not on this machine', async (_, files, packageManager, name) => {
    await write('root/package.json', JSON.stringify({ dependencies: { x: '1.0.0' }, packageManager }))
    for (const [path, text] of Object.entries(files)) await write(`root/${path}`, text)
    for (const program of ['yarn', 'pnpm']) await rm(join(folder, 'programs', program))
    await write('programs/npx', await readFile(join(folder, 'programs/npm'), 'utf8'))
    const program = 'yarn.lock' in files ? 'yarn' : 'pnpm'
    const option = '.yarnrc.yml' in files ? '--immutable' : '--frozen-lockfile'
    const command = `npx --yes --package ${name} -- ${program} install ${option}`
    const env = { PATH: join(folder, 'programs') }
    expect(await build({ env })).toEqual([`> ${command}`, `root ${command}`])
  })

  test('in the folder of the langgraph.json, where that has a package.json of its own', async () => {
    await write('root/apps/agent/package.json', withDependencies)
    expect(await build({ configPath: 'apps/agent/langgraph.json' })).toEqual([
      '> npm install',
      'agent npm install',
    ])
    await write('root/package.json', JSON.stringify({ workspaces: ['apps/*'] }))
    expect(await build({ configPath: 'apps/agent/langgraph.json' })).toEqual([
      '> npm install',
      'root npm install',
    ])
  })

  test.each([
    ['no package.json', {}],
    ['no dependencies', { 'package.json': '{"name":"x"}' }],
    [
      'empty dependencies',
      { 'package.json': '{"dependencies":{},"workspaces":[]}', 'package-lock.json': '' },
    ],
    ['its node_modules', { 'package.json': withDependencies, 'node_modules/x/index.js': '' }],
  ])('nothing, and no process is started, with %s', async (_, files) => {
    for (const [path, text] of Object.entries({ 'langgraph.json': '{}', ...files }))
      await write(`root/${path}`, text)
    expect(await build({ env: { PATH: '/nowhere' } })).toEqual([])
  })

  test('a package.json that is not JSON is told', async () => {
    await write('root/package.json', '{')
    await expect(build()).rejects.toThrow(new DeployError('The package.json of the source is not JSON.'))
  })
})

describe('the commands of the source', () => {
  const say = (what: string) =>
    `node -e "console.log('${what}', require('node:path').basename(process.cwd()))"`

  test('install in the root, and build in the folder of the langgraph.json', async () => {
    await write('root/package.json', withDependencies)
    await write('root/apps/agent/langgraph.json', '{}')
    const options = {
      installCommand: say('installs'),
      buildCommand: say('builds'),
      configPath: 'apps/agent/langgraph.json',
    }
    const lines = await build(options)
    expect(lines.filter((line) => !line.startsWith('>'))).toEqual(['installs root', 'builds agent'])
  })

  test('have the given environment and nothing of ours', async () => {
    await write('root/langgraph.json', '{}')
    process.env.OURS_ALONE = 'secret'
    const [, names] = await build({
      buildCommand: 'node -e "console.log(Object.keys(process.env).sort().join())"',
      env: { PATH: process.env.PATH, GIVEN: '1' },
    })
    delete process.env.OURS_ALONE
    expect(names).toBe(
      'AGENTWIRE_SUPERVISED,CI,GIVEN,PATH,YARN_ENABLE_TELEMETRY,YARN_NODE_LINKER,npm_config_audit,npm_config_fund,npm_config_update_notifier',
    )
  })

  test('fail the build with their exit code, their output is in the log, and nothing is built after a failed install', async () => {
    await write('root/langgraph.json', '{}')
    const lines: string[] = []
    const failing = build({
      installCommand: 'node -e "console.error(\'no such package\'); process.exit(3)"',
      buildCommand: say('builds'),
      log: (line) => lines.push(line),
    })
    await expect(failing).rejects.toThrow(
      new DeployError('install failed with exit code 3: see the build log'),
    )
    expect(lines.at(-1)).toBe('no such package')
    await expect(build({ buildCommand: 'node -e "process.kill(process.pid, \'SIGKILL\')"' })).rejects.toThrow(
      new DeployError('build was ended by SIGKILL: see the build log'),
    )
    await expect(build({ buildCommand: 'no-such-program --x' })).rejects.toThrow(
      new DeployError('The program "no-such-program" does not exist, or is not in the PATH.'),
    )
  })

  test('are stopped by the signal, with what they started', async () => {
    await write('root/langgraph.json', '{}')
    const controller = new AbortController()
    const reason = new Error('A newer revision came.')
    await expect(
      build({
        buildCommand: `node -e "console.log('up'); setInterval(() => {}, 1000)"`,
        signal: controller.signal,
        log: (line) => line === 'up' && controller.abort(reason),
      }),
    ).rejects.toBe(reason)
  })

  test('are not read by a shell', async () => {
    await write('root/langgraph.json', '{}')
    for (const buildCommand of ['npm ci && touch evil', 'node x; touch evil', 'echo $(touch evil)'])
      await expect(build({ buildCommand })).rejects.toThrow('is not run by a shell')
    expect(
      await build({
        buildCommand: `node -e "console.log(process.argv.slice(1).join('|'))" '&& touch evil' "*"`,
      }),
    ).toContain('&& touch evil|*')
    await expect(readFile(join(folder, 'root/evil'))).rejects.toThrow('ENOENT')
  })
})

describe('a command line', () => {
  test.each([
    ['npm ci', ['npm', 'ci']],
    ['  npm   run\tbuild  ', ['npm', 'run', 'build']],
    ['npm run build -- --mode=production', ['npm', 'run', 'build', '--', '--mode=production']],
    [`echo 'a b' "c d" e\\ f`, ['echo', 'a b', 'c d', 'e f']],
    [`echo "a \\"b\\" \\\\ \\n" 'c\\d'`, ['echo', 'a "b" \\ \\n', 'c\\d']],
    [`echo a'b'"c"d ''`, ['echo', 'abcd', '']],
    [`echo "&& | ; < > \` $(x) \n"`, ['echo', '&& | ; < > ` $(x) \n']],
    ['echo \\&\\& *.ts ~ #x {a,b}', ['echo', '&&', '*.ts', '~', '#x', '{a,b}']],
    ['echo x=1', ['echo', 'x=1']],
  ])('%j', (text, words) => {
    expect(splitCommand(text)).toEqual(words)
  })

  test.each([
    'a && b',
    'a || b',
    'a | b',
    'a ; b',
    'a & b',
    'a > b',
    'a < b',
    'a $HOME',
    'a $(b)',
    'a `b`',
    '(a)',
    'a\nb',
    'NODE_ENV=production npm ci',
    'a "b',
    "a 'b",
    '',
    '   ',
    "''",
    'a\0b',
  ])('%j is refused', (text) => {
    expect(() => splitCommand(text)).toThrow(DeployError)
  })
})
