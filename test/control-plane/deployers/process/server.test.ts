import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { DeployError } from '../../../../src/control-plane/deployers/deployer.ts'
import {
  createOutput,
  fillIn,
  ownServer,
  type ServerOptions,
  startChild,
} from '../../../../src/control-plane/deployers/process/server/child.ts'
import { type Restarts, startServer } from '../../../../src/control-plane/deployers/process/server/site.ts'
import { listen } from '../../../kit/listen.ts'
import { isRunning } from '../../../kit/processes.ts'
import { eventually } from '../../../kit/wait.ts'

const READY = `
const http = require('node:http')
const server = http.createServer((req, res) => {
  if (req.url === '/crash') process.exit(3)
  res.end(String(process.pid))
})
const listen = () => server.listen(Number(process.env.PORT), '127.0.0.1')
`
/** A server that is ready at once. */
const PLAIN = `${READY} listen()`

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'agentwire-server-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** The options of a server that runs this script, and the lines of its log. */
function serverOf(script: string, given: Partial<ServerOptions> = {}) {
  const lines: string[] = []
  const cwd = folder()
  const options: ServerOptions = {
    command: (port) => ({
      command: [process.execPath, '-e', script],
      cwd,
      env: { PATH: process.env.PATH, PORT: String(port) },
    }),
    log: (line, level = 'INFO') => lines.push(`${level} ${line}`),
    mask: (text) => text.replaceAll('hidden', '***'),
    readyTimeoutMs: 10_000,
    graceMs: 1_000,
    ...given,
  }
  return { options, lines, cwd }
}

const never = new AbortController().signal

async function start(options: ServerOptions, restarts?: Restarts) {
  const server = await startServer(options, never, restarts)
  onTestFinished(() => server.stop())
  const ask = async (path = '/') =>
    (await fetch(`http://127.0.0.1:${server.backend.port}${path}`)).text().then(Number)
  return { server, ask }
}

test('a server is given when it is ready, and what it writes is in the log', async () => {
  const script = `${READY} console.log('begins'); console.error('warns'); setTimeout(listen, 150)`
  const { options, lines } = serverOf(script)
  const { server, ask } = await start(options)
  const pid = await ask()
  expect(isRunning(pid)).toBe(true)
  expect(lines).toEqual(['INFO begins', 'ERROR warns'])
  await server.stop()
  expect([isRunning(pid), server.backend.port]).toEqual([false, undefined])
})

test('a server that answers anything but 200 is not ready', async () => {
  const script = `${READY} let asked = 0
    server.removeAllListeners('request')
    server.on('request', (req, res) => res.writeHead(++asked < 4 ? 503 : 200).end(String(asked)))
    listen()`
  const { ask } = await start(serverOf(script).options)
  expect(await ask()).toBe(5)
})

test('a server that ends before it is ready fails at once, with its last lines and without secrets', async () => {
  const { options } = serverOf(
    `for (let at = 0; at < 30; at++) console.error('line ' + at + ' hidden'); process.exitCode = 4`,
  )
  const began = Date.now()
  const error = await startChild(options, never).catch((thrown) => thrown)
  expect(error).toBeInstanceOf(DeployError)
  expect(error.message).toMatch(
    /^The server ended with exit code 4 before it was ready\. Its last lines:\nline 10 \*\*\*\n/,
  )
  expect(error.message).toMatch(/line 29 \*\*\*$/)
  expect(Date.now() - began).toBeLessThan(20_000)
})

test('a server that never gets ready is ended at its deadline, and the error says what was wrong', async () => {
  const silent = serverOf(`console.log(process.pid); setInterval(() => {}, 1000)`, { readyTimeoutMs: 5_000 })
  const error = await startChild(silent.options, never).catch((thrown) => thrown)
  expect(error).toBeInstanceOf(DeployError)
  expect(error.message).toMatch(/^The server was not ready within 5 seconds: nothing responds on port \d+/)
  expect(isRunning(Number(silent.lines[0]!.split(' ')[1]))).toBe(false)

  const wrong = serverOf(
    `${PLAIN}; server.removeAllListeners('request'); server.on('request', (req, res) => res.writeHead(404).end())`,
    { readyTimeoutMs: 5_000 },
  )
  await expect(startChild(wrong.options, never)).rejects.toThrow('GET /ok returns 404 instead of 200.')

  const hanging = serverOf(`${READY} server.removeAllListeners('request'); listen()`, { readyTimeoutMs: 600 })
  await expect(startChild(hanging.options, never)).rejects.toThrow('nothing responds')
})

test('an abort ends the start with its reason, and the process', async () => {
  const { options, lines } = serverOf(`console.log(process.pid); setInterval(() => {}, 1000)`)
  const controller = new AbortController()
  const started = startChild(options, controller.signal)
  await eventually(() => lines.length > 0)
  controller.abort(new Error('a newer one'))
  await expect(started).rejects.toThrow('a newer one')
  expect(isRunning(Number(lines[0]!.split(' ')[1]))).toBe(false)
})

test('a program that is not there is told', async () => {
  const { options } = serverOf('')
  const command = (port: number) => ({ ...options.command(port), command: ['no-such-program'] as const })
  await expect(startChild({ ...options, command }, never)).rejects.toThrow('"no-such-program" does not exist')
})

test('a port that another program was faster to take is replaced by another one', async () => {
  const { options, lines } = serverOf(PLAIN)
  const faster = createServer((_req, res) => res.writeHead(500).end())
  onTestFinished(() => void faster.close())
  const ports: number[] = []
  const command = (port: number) => {
    if (ports.push(port) === 1) void listen(faster, port)
    return options.command(port)
  }
  const { server, ask } = await start({ ...options, command })
  expect(await ask()).toBeGreaterThan(0)
  expect(ports).toHaveLength(2)
  expect(server.backend.port).toBe(ports[1])
  expect(lines.at(-1)).toBe(
    `WARNING Port ${ports[0]} was taken by another program. The server is being started on another port.`,
  )
})

test('a server that crashes is started again, later each time, and says so', async () => {
  const { options, lines } = serverOf(PLAIN)
  const { server, ask } = await start(options, { firstMs: 50, mostMs: 150, resetMs: 60_000 })
  const pids = new Set<number>()
  for (let crash = 0; crash < 4; crash++) {
    pids.add(await ask())
    await ask('/crash').catch(() => {})
    await eventually(() => server.backend.port === undefined)
    await eventually(() => server.backend.port !== undefined)
  }
  expect(pids.size).toBe(4)
  expect(lines.map((line) => line.replaceAll('\n', ' '))).toEqual(
    [0.05, 0.1, 0.15, 0.15].map(
      (seconds) => `ERROR The server ended with exit code 3. The server restarts in ${seconds} seconds.`,
    ),
  )
})

test('a server that was up for long begins with the shortest wait again', async () => {
  const { options, lines } = serverOf(PLAIN)
  const { server, ask } = await start(options, { firstMs: 20, mostMs: 1_000, resetMs: 0 })
  for (let crash = 0; crash < 3; crash++) {
    await ask('/crash').catch(() => {})
    await eventually(() => server.backend.port === undefined)
    await eventually(() => server.backend.port !== undefined)
  }
  expect(lines.every((line) => line.includes('restarts in 0.02 seconds'))).toBe(true)
})

test('a server that was killed is started again, and one that cannot be is tried again', async () => {
  const { options, lines, cwd } = serverOf(
    `if (require('node:fs').existsSync('broken')) { console.error('broken'); process.exit(9) } ${PLAIN}`,
  )
  const { server, ask } = await start(options, { firstMs: 20, mostMs: 40, resetMs: 60_000 })
  writeFileSync(join(cwd, 'broken'), '')
  process.kill(await ask(), 'SIGKILL')
  await eventually(() => lines.filter((line) => line.includes('exit code 9')).length >= 2)
  expect(lines[0]).toMatch(/^ERROR The server ended by SIGKILL\./)
  expect(lines.find((line) => line.includes('exit code 9'))).toMatch(
    /ended with exit code 9 before it was ready\. Its last lines:\nbroken\nThe server restarts/,
  )
  unlinkSync(join(cwd, 'broken'))
  await eventually(() => server.backend.port !== undefined)
  expect(await ask()).toBeGreaterThan(0)
})

test('a server in a crash loop can be stopped at any moment', async () => {
  for (const ms of [0, 30, 70, 120]) {
    const { options } = serverOf(PLAIN)
    const { server, ask } = await start(options, { firstMs: 10, mostMs: 10, resetMs: 60_000 })
    await ask('/crash').catch(() => {})
    await sleep(ms)
    await server.stop()
    expect(server.backend.port).toBe(undefined)
  }
})

test('a server that ignores SIGTERM is killed when its grace is over, with what it has started', async () => {
  const script = `process.on('SIGTERM', () => {})
    const child = require('node:child_process').spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'])
    console.log(child.pid)
    ${PLAIN}`
  const { options, lines } = serverOf(script, { graceMs: 300 })
  const { server, ask } = await start(options)
  const pids = [await ask(), Number(lines[0]!.split(' ')[1])]
  expect(pids.map(isRunning)).toEqual([true, true])
  const began = Date.now()
  await server.stop()
  expect(Date.now() - began).toBeGreaterThanOrEqual(290)
  expect(pids.map(isRunning)).toEqual([false, false])
})

test('a server that floods its log serves on, and the log and the memory stay small', async () => {
  const script = `${PLAIN}
    const line = 'x'.repeat(200) + '\\n'
    const write = () => { while (process.stdout.write(line.repeat(100))); }
    process.stdout.on('drain', write)
    setTimeout(write, 100)
    process.stdout.write('y'.repeat(1e6) + '\\n')`
  let lines = 0
  let longest = 0
  const left: string[] = []
  const { options } = serverOf(script, {
    log: (line) => {
      lines++
      longest = Math.max(longest, line.length)
      if (line.includes('omitted')) left.push(line)
    },
  })
  const before = process.memoryUsage.rss()
  const { ask } = await start(options)
  await sleep(2_500)
  expect(await ask()).toBeGreaterThan(0)
  expect(lines).toBeLessThan(4_500)
  expect(longest).toBeLessThan(20_000)
  expect(left[0]).toMatch(/^\d{4,} lines were omitted here/)
  expect(process.memoryUsage.rss() - before).toBeLessThan(200_000_000)
})

test('the output has the lines within its bounds, and keeps the last ones', async () => {
  const logged: string[] = []
  const output = createOutput((line, level) => logged.push(`${level} ${line}`))
  expect(output.tail()).toBe('')
  for (let at = 0; at < 1_500; at++) output.add(`line ${at}`, at % 2 ? 'stderr' : 'stdout')
  expect(logged).toHaveLength(1_000)
  expect(logged.slice(0, 2)).toEqual(['INFO line 0', 'ERROR line 1'])
  expect(output.tail().split('\n')).toEqual(Array.from({ length: 20 }, (_, at) => `line ${1_480 + at}`))
  await eventually(() => logged.length === 1_001, { timeoutMs: 200_000 })
  expect(logged.at(-1)).toBe('WARNING 500 lines were omitted here: the server writes too much output.')
  output.add('later', 'stdout')
  expect(logged.at(-1)).toBe('INFO later')
})

test('placeholders are replaced in every argument, and the default is this package', () => {
  expect(
    fillIn(['run', '--at={host}:{port}', '{config}', '{dir}/x', '{other}'], {
      port: 1234,
      config: '/a/$&/langgraph.json',
      dir: '/a/$&',
    }),
  ).toEqual(['run', '--at=127.0.0.1:1234', '/a/$&/langgraph.json', '/a/$&/x', '{other}'])
  const [program, ...args] = ownServer()
  expect(program).toBe(process.execPath)
  const options = ['--config', '{config}', '--host', '{host}', '--port', '{port}']
  expect(args.slice(-9)).toEqual(['serve', '--hide-errors', '--no-devtools', ...options])
})
