import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  type CommandDeployerOptions,
  commandDeployer,
} from '../../../../src/control-plane/deployers/command/command.ts'
import {
  type DeployContext,
  DeployError,
  type LogLevel,
} from '../../../../src/control-plane/deployers/deployer.ts'
import { eventually } from '../../../kit/wait.ts'
import { root } from '../../../package/package.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentwire-command-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A program of Node. It finds what it was told in `told`. */
const program = (script: string) =>
  [
    process.execPath,
    '-e',
    `const told = JSON.parse(require('fs').readFileSync(0)); const say = (x) => console.log(JSON.stringify(x)); ${script}`,
  ] as const

const nothing = program('')
const running = { url: 'http://127.0.0.1:1/', handle: { pid: 7 } }
const deployerOf = (options: Partial<CommandDeployerOptions>) =>
  commandDeployer({ deploy: nothing, stop: nothing, destroy: nothing, cwd: folder, ...options })

function contextOf(signal = new AbortController().signal) {
  const lines: { line: string; level: LogLevel | undefined }[] = []
  const context: DeployContext = {
    deploymentId: 'd-1',
    name: 'support',
    owner: null,
    signal,
    log: (line, level) => lines.push({ line, level }),
    openUpload: async () => undefined,
    revisionId: 'r-1',
    revisionNumber: 1,
    source: 'github',
    sourceConfig: { repo_url: 'https://git.example.com/agent' },
    sourceRevisionConfig: { repo_ref: 'main' },
    secretReferences: [],
    secrets: { TOKEN: 'hunter22' },
    artifact: { image: 'a:1' },
    previous: running,
  }
  return { ...context, lines }
}

const failure = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => undefined,
    (error) => error,
  )
  expect(error).toBeInstanceOf(DeployError)
  return error.message
}

test('each phase is told what it is about, on stdin', async () => {
  const file = join(folder, 'told.jsonl')
  const keep = (result: string) =>
    program(
      `require('fs').appendFileSync(${JSON.stringify(file)}, JSON.stringify(told) + '\\n'); say({ result: ${result} })`,
    )
  const deployer = deployerOf({
    prepare: keep('{ prepared: { at: 1 }, repo_commit_sha: "abc" }'),
    build: keep('{ image: "a:1" }'),
    deploy: keep('{ url: "http://127.0.0.1:1/", handle: { pid: 7 } }'),
    promote: keep('{ url: "https://agents.example.com/support" }'),
    stop: keep('null'),
    destroy: keep('null'),
  })
  const context = contextOf()
  expect(await deployer.prepare!(context)).toEqual({ prepared: { at: 1 }, repoCommitSha: 'abc' })
  expect(await deployer.build!({ ...context, prepared: { at: 1 } })).toEqual({ image: 'a:1' })
  expect(await deployer.deploy(context)).toEqual(running)
  expect(await deployer.promote!(context, running)).toEqual({
    url: 'https://agents.example.com/support',
    handle: null,
  })
  await deployer.stop(running, context)
  await deployer.destroy(context)

  const told = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const deployment = { id: 'd-1', name: 'support', owner: null }
  const revision = {
    deployment,
    revision: { id: 'r-1', number: 1 },
    source: 'github',
    source_config: { repo_url: 'https://git.example.com/agent' },
    source_revision_config: { repo_ref: 'main' },
    secret_references: [],
  }
  const deploy = { ...revision, artifact: { image: 'a:1' }, previous: running }
  expect(told).toEqual([
    { phase: 'prepare', ...revision },
    { phase: 'build', ...revision, prepared: { at: 1 } },
    { phase: 'deploy', ...deploy, secrets: { TOKEN: 'hunter22' } },
    { phase: 'promote', ...deploy, running },
    { phase: 'stop', deployment, running },
    { phase: 'destroy', deployment },
  ])
})

test('secrets are given to the phases that are named, and are in no argument and no environment', async () => {
  const look = program(
    'say({ result: { secrets: told.secrets ?? null, env: process.env, argv: process.argv } })',
  )
  const artifact = await deployerOf({ build: look, secretsFor: ['build'] }).build!({
    ...contextOf(),
    prepared: null,
  })
  expect(artifact).toMatchObject({
    secrets: { TOKEN: 'hunter22' },
    env: { AGENTWIRE_PHASE: 'build', AGENTWIRE_DEPLOYMENT_ID: 'd-1', AGENTWIRE_REVISION_ID: 'r-1' },
  })
  const { env, argv } = artifact as { env: object; argv: object }
  expect(JSON.stringify([env, argv])).not.toContain('hunter22')
  expect(
    await deployerOf({ build: look, secretsFor: [] }).build!({ ...contextOf(), prepared: null }),
  ).toMatchObject({
    secrets: null,
  })
})

test('the environment is scrubbed, but for what the options name', async () => {
  process.env.AGENTWIRE_TEST_TOKEN = 'of the control plane'
  try {
    const look = program('say({ result: process.env })')
    const env = await deployerOf({ build: look, env: { REGION: 'eu' } }).build!({
      ...contextOf(),
      prepared: null,
    })
    expect(env).toMatchObject({ REGION: 'eu', PATH: process.env.PATH })
    expect(env).not.toHaveProperty('AGENTWIRE_TEST_TOKEN')
  } finally {
    delete process.env.AGENTWIRE_TEST_TOKEN
  }
})

test('lines of both streams come into the log, with their levels', async () => {
  const context = contextOf()
  const destroy = program(
    `console.log('plain'); say({ log: 'careful', level: 'warning' }); say({ log: 'odd', level: 'loud' }); say({ other: 1 }); console.log('[1, 2]'); console.log('{"log": '); console.error('on stderr')`,
  )
  await deployerOf({ destroy }).destroy(context)
  expect(context.lines).toHaveLength(7)
  for (const [line, level] of [
    ['plain', undefined],
    ['careful', 'WARNING'],
    ['odd', undefined],
    ['{"other":1}', undefined],
    ['[1, 2]', undefined],
    ['{"log": ', undefined],
    ['on stderr', undefined],
  ] as const)
    expect(context.lines).toContainEqual({ line, level })
})

test.each([
  ['process.exitCode = 3', 'exited with code 3.'],
  [`say({ error: 'no room' }); process.exitCode = 3`, 'failed: no room'],
  [`say({ error: 'said, and ended well' })`, 'failed: said, and ended well'],
  [`say({ error: 'the token hunter22 is wrong' }); process.exit(1)`, 'failed: the token *** is wrong'],
  [`say({ error: { code: 7 } })`, 'failed: {"code":7}'],
  [`say({ result: { url: 'http://a/' } }); process.exit(2)`, 'exited with code 2.'],
  [`process.kill(process.pid, 'SIGKILL'); setTimeout(() => {}, 9999)`, 'was ended by SIGKILL.'],
])('a program that does %j fails its phase', async (script, message) => {
  expect(await failure(deployerOf({ deploy: program(script) }).deploy(contextOf()))).toBe(
    `The program of the phase "deploy" ${message}`,
  )
})

test.each([
  ['', 'there is none: print'],
  ['say({ result: null })', 'it is not an object'],
  ['say({ result: [] })', 'it is not an object'],
  ['say({ result: {} })', 'its "url" is not a URL'],
  [`say({ result: { url: 'file:///etc' } })`, 'its "url" is not a URL'],
  [`say({ result: { url: 7 } })`, 'its "url" is not a URL'],
  [`process.stdout.write('{"result": {"url": "http://a')`, 'its result is not JSON on one line'],
  [
    `say({ result: { url: 'http://a/', handle: 'x'.repeat(2_000_000) } })`,
    'its result is not JSON on one line',
  ],
])('a deploy that ends well with %j has no result that can be used', async (script, message) => {
  expect(await failure(deployerOf({ deploy: program(script) }).deploy(contextOf()))).toContain(message)
})

test('a commit that is not a string is refused', async () => {
  const prepare = program('say({ result: { repo_commit_sha: 7 } })')
  expect(await failure(deployerOf({ prepare }).prepare!(contextOf()))).toContain(
    'its "repo_commit_sha" is not a string',
  )
})

test('a result that is left out is nothing where none is needed', async () => {
  const deployer = deployerOf({ prepare: nothing, build: nothing, promote: nothing })
  expect(await deployer.prepare!(contextOf())).toEqual({ prepared: null })
  expect(await deployer.build!({ ...contextOf(), prepared: null })).toBeNull()
  expect(await deployer.promote!(contextOf(), running)).toBe(running)
})

test('the last result counts', async () => {
  const build = program('say({ result: 1 }); say({ result: 2 })')
  expect(await deployerOf({ build }).build!({ ...contextOf(), prepared: null })).toBe(2)
})

test('a program that is not there is named', async () => {
  const deploy = ['agentwire-no-such-program'] as const
  expect(await failure(deployerOf({ deploy }).deploy(contextOf()))).toContain('"agentwire-no-such-program"')
})

test('a program that reads nothing, or ends before it has read, is no trouble', async () => {
  const artifact = { big: 'x'.repeat(1_000_000) }
  const deploy = [process.execPath, '-e', `console.log('{"result":{"url":"http://a/"}}')`] as const
  expect(await deployerOf({ deploy }).deploy({ ...contextOf(), artifact })).toEqual({
    url: 'http://a/',
    handle: null,
  })
})

test('a program that floods is read to its end, a line at a time', async () => {
  let lines = 0
  let longest = 0
  const log = (line: string) => {
    lines++
    longest = Math.max(longest, line.length)
  }
  const destroy = program(
    `const line = 'x'.repeat(99); for (let i = 0; i < 200_000; i++) require('fs').writeSync(1, line + '\\n'); process.stdout.write('y'.repeat(5_000_000))`,
  )
  await deployerOf({ destroy }).destroy({ ...contextOf(), log })
  expect(lines).toBe(200_001)
  expect(longest).toBeLessThan(1_100_000)
})

test.each([
  ['ends when it is told', `process.on('SIGTERM', () => process.exit(0));`],
  ['does not listen', `process.on('SIGTERM', () => {});`],
])('an abort stops a program that %s, and what it has started', async (_, script) => {
  const file = join(folder, 'pids')
  const deploy = program(
    `${script} const child = require('child_process').spawn(process.execPath, ['-e', "process.on('SIGTERM', () => {}); setInterval(() => {}, 999)"]); require('fs').writeFileSync(${JSON.stringify(file)}, process.pid + ' ' + child.pid); setInterval(() => {}, 999)`,
  )
  const abort = new AbortController()
  const deploying = deployerOf({ deploy, graceMs: 200 }).deploy(contextOf(abort.signal))
  await eventually(() => existsSync(file) && readFileSync(file, 'utf8').includes(' '))
  const reason = new Error('a newer revision came')
  abort.abort(reason)
  await expect(deploying).rejects.toBe(reason)
  // A process that was killed keeps its id until init has asked how it ended, which may take seconds.
  for (const pid of readFileSync(file, 'utf8').split(' ').map(Number))
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 30_000)
})

test('only the sources that the programs take are not refused', () => {
  const refuses = (deployer: ReturnType<typeof deployerOf>, source: DeployContext['source']) =>
    deployer.refuses({ ...contextOf(), source })
  expect(refuses(deployerOf({}), 'github')).toBeUndefined()
  expect(refuses(deployerOf({}), 'external_docker')).toBeUndefined()
  expect(refuses(deployerOf({}), 'internal_source')).toBe(
    'This control plane accepts the sources "github", "external_docker", not "internal_source".',
  )
  expect(refuses(deployerOf({ sources: ['internal_template'] }), 'internal_template')).toBeUndefined()
})

test.each(['sh', 'js'])('the example of the guide in %s works', async (language) => {
  const guide = readFileSync(join(root, 'docs/control-plane.md'), 'utf8').split(
    '\n## Your own programs\n',
  )[1]!
  const [, script] = new RegExp(`\`\`\`${language}\\n(#!.*?)\`\`\``, 's').exec(guide)!
  const file = join(folder, `deployer.${language === 'sh' ? 'sh' : 'mjs'}`)
  writeFileSync(file, script!)
  // Stands for docker: it writes down what it was called with.
  writeFileSync(join(folder, 'docker'), `#!/bin/sh\necho "$@" >> "${folder}/calls"\ncat > /dev/null\n`, {
    mode: 0o755,
  })
  const interpreter = language === 'sh' ? '/bin/sh' : process.execPath
  const step = [interpreter, file] as const
  const env = { PATH: `${folder}:${process.env.PATH}` }
  const deployer = commandDeployer({
    deploy: step,
    stop: step,
    destroy: step,
    sources: ['external_docker'],
    cwd: folder,
    env,
  })
  const context = { ...contextOf(), sourceRevisionConfig: { image_uri: 'registry.example.com/a:1' } }
  const started = await deployer.deploy(context)
  expect(started).toEqual({ url: 'http://agent-r-1:8000', handle: 'agent-r-1' })
  await deployer.stop(started, context)
  await deployer.destroy(context)
  const calls = readFileSync(join(folder, 'calls'), 'utf8')
  expect(calls).toContain('run')
  expect(calls).toContain('registry.example.com/a:1')
  expect(calls).toContain('agent-r-1')
  expect(calls).not.toContain('hunter22')
})
