import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DeployError } from '../../../src/control-plane/deployers/deployer.ts'
import {
  type RunCommandOptions,
  runCommand,
  scrubbedEnv,
} from '../../../src/control-plane/deployers/run-command.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentwire-run-command-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const env = { PATH: process.env.PATH }
const run = async (script: string, options: Partial<RunCommandOptions> = {}) => {
  const lines: string[] = []
  const ended = await runCommand({
    command: [process.execPath, '-e', script],
    cwd: folder,
    env,
    onLine: (line, stream) => lines.push(`${stream}: ${line}`),
    ...options,
  })
  return { ended, lines }
}

test('the lines of both streams and the exit code are told', async () => {
  const { ended, lines } = await run(
    "console.log('one\\r\\ntwo'); console.error('wrong'); process.stdout.write('grüße'); process.exitCode = 7",
  )
  expect(ended).toEqual({ code: 7, signal: null })
  expect(lines.filter((line) => line.startsWith('stdout'))).toEqual([
    'stdout: one',
    'stdout: two',
    'stdout: grüße',
  ])
  expect(lines.filter((line) => line.startsWith('stderr'))).toEqual(['stderr: wrong'])
})

test('a command that dies by a signal tells which', async () => {
  expect((await run("process.kill(process.pid, 'SIGSEGV')")).ended).toEqual({ code: null, signal: 'SIGSEGV' })
})

test('arguments reach the program as they are, whatever a shell would make of them', async () => {
  const hostile = ['$(id)', '; rm -rf x', '`id`', '*', "'", '"', '\\', 'a b', '', '-e', '\n']
  const lines: string[] = []
  await runCommand({
    command: [process.execPath, '-e', 'console.log(JSON.stringify(process.argv.slice(1)))', '--', ...hostile],
    cwd: folder,
    env,
    onLine: (line) => lines.push(line),
  })
  expect(JSON.parse(lines[0]!)).toEqual(hostile)
})

test('the environment is the given one, and the mark of its processes', async () => {
  const { lines } = await run('console.log(Object.keys(process.env).sort().join())', {
    env: { ...env, GIVEN: '1' },
  })
  expect(lines).toEqual(['stdout: AGENTWIRE_SUPERVISED,GIVEN,PATH'])
})

test('the input is read to its end, and a program that reads none of it does no harm', async () => {
  const input = 'x'.repeat(1_000_000)
  const echo = "let n = 0; process.stdin.on('data', (c) => { n += c.length }).on('end', () => console.log(n))"
  expect((await run(echo, { input })).lines).toEqual(['stdout: 1000000'])
  expect((await run('process.exit(0)', { input })).ended).toEqual({ code: 0, signal: null })
})

test('a long line is cut and says so, and the lines after it are whole', async () => {
  const { lines } = await run("console.log('a'.repeat(5_000_000)); console.log('short')", {
    maxLineBytes: 10,
  })
  expect(lines).toEqual(['stdout: aaaaaaaaaa … (the line was cut)', 'stdout: short'])
})

test('a million lines come one by one and in order', async () => {
  let count = 0
  let isInOrder = true
  await run(
    'for (let at = 0; at < 1000000; at += 1000) process.stdout.write(Array.from({ length: 1000 }, (_, i) => at + i).join("\\n") + "\\n")',
    {
      onLine: (line) => {
        isInOrder &&= line === String(count)
        count++
      },
    },
  )
  expect([count, isInOrder]).toEqual([1_000_000, true])
})

test('an abort stops it and rejects with the reason of the signal', async () => {
  const controller = new AbortController()
  const reason = new Error('A newer revision came.')
  const running = run("console.log('up'); setInterval(() => {}, 1000)", {
    signal: controller.signal,
    onLine: () => controller.abort(reason),
  })
  await expect(running).rejects.toBe(reason)
})

test('an error of who is told the lines stops it, and rejects', async () => {
  const error = new Error('The log is full.')
  let told = 0
  const running = run("console.log('one\\ntwo'); setInterval(() => {}, 1000)", {
    onLine: () => {
      told++
      throw error
    },
  })
  await expect(running).rejects.toBe(error)
  expect(told).toBe(1)
})

test('an aborted signal starts nothing', async () => {
  const reason = new Error('Too late.')
  await expect(run('', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
})

test('a command that takes too long is stopped, also when it ignores SIGTERM', async () => {
  const script = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"
  await expect(run(script, { timeoutMs: 300, graceMs: 200 })).rejects.toThrow(
    new DeployError(`${JSON.stringify(process.execPath)} was stopped: it ran for more than 0.3 seconds.`),
  )
})

const failing = (command: RunCommandOptions['command'], cwd = folder) => {
  const rejected = expect(runCommand({ command, cwd, env })).rejects
  return {
    says: async (message: string) => {
      await rejected.toBeInstanceOf(DeployError)
      await expect(runCommand({ command, cwd, env })).rejects.toThrow(message)
    },
  }
}

test('what cannot be started is named', async () => {
  await failing(['no-such-program']).says(
    'The program "no-such-program" does not exist, or is not in the PATH.',
  )
  await failing([process.execPath], join(folder, 'gone')).says('The working directory of ')
  await writeFile(join(folder, 'plain.txt'), 'text', { mode: 0o644 })
  await failing([join(folder, 'plain.txt')]).says('is not executable.')
  await failing([process.execPath, 'a\0b']).says('could not be started')
  await failing([process.execPath, 'x'.repeat(3_000_000)]).says('could not be started')
})

test('a command leaves no process that keeps ours alive, and no file descriptor', async () => {
  await run('')
  const before = process.getActiveResourcesInfo().length
  for (let at = 0; at < 5; at++) await run("console.log('x')")
  expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before + 1)
})

test('only paths, language, certificates and the registry are passed on', () => {
  expect(
    scrubbedEnv({
      PATH: '/bin',
      HOME: '/home/x',
      LC_ALL: 'C',
      NPM_CONFIG_REGISTRY: 'http://127.0.0.1/',
      npm_config_registry: 'http://127.0.0.1/',
      'npm_config_//registry/:_authToken': 'secret',
      DATABASE_URL: 'secret',
      NODE_OPTIONS: '--inspect',
      AWS_SECRET_ACCESS_KEY: 'secret',
    }),
  ).toEqual({
    PATH: '/bin',
    HOME: '/home/x',
    LC_ALL: 'C',
    NPM_CONFIG_REGISTRY: 'http://127.0.0.1/',
    npm_config_registry: 'http://127.0.0.1/',
  })
})
