import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request as send } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGzip } from 'node:zlib'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { serve } from '../../adapters/node/serve.ts'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { isInRange, packageChecks } from '../../src/cli/doctor/doctor.ts'
import { run } from '../../src/cli/run.ts'
import { VERSION } from '../../src/core/version.ts'
import { createAgentServer } from '../../src/server.ts'
import { openStorage } from '../../src/storage/open.ts'
import { freePort, listen, openServer } from '../kit/listen.ts'
import { write } from './projects.ts'

const folder = mkdtempSync(join(tmpdir(), 'agentwire-doctor-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Told {
  readonly check: string
  readonly level: string
  readonly text: string
}

/** What the command prints as JSON, and its exit code. Its port is free unless a test names one. */
async function doctor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const printed: string[] = []
  const code = await run(['doctor', '--json', ...args], {
    env: { PORT: `${await freePort()}`, STORAGE_URL: 'memory:', ...env },
    out: (text) => printed.push(text),
    problem: (text) => printed.push(text),
  })
  const { ok, checks } = JSON.parse(printed.join('\n')) as { ok: boolean; checks: readonly Told[] }
  expect(code).toBe(ok ? 0 : 1)
  const of = (name: string): string[] =>
    checks.filter(({ check }) => check === name).map(({ level, text }) => `${level}: ${text}`)
  return { ok, of }
}

async function startServer(authenticate?: (request: Request) => { id: string } | null): Promise<string> {
  const agent = defineAgent({ run: ({ message }) => message('Hello') })
  const server = createAgentServer({ agents: { agent }, ...(authenticate && { authenticate }) })
  const served = await serve(server, { port: 0 })
  onTestFinished(() => served.close())
  return `http://127.0.0.1:${served.port}`
}

/** A proxy before a server: `pass` makes the stream between what the server sends and what the client gets. */
async function startProxy(target: string, pass: 'whole' | 'gzip'): Promise<string> {
  const proxy = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming
    const out = send(`${target}${url}`, { method, headers }, (answer) => {
      const { 'content-length': _, ...sent } = answer.headers
      const isStream = /event-stream/.test(sent['content-type'] ?? '')
      if (pass === 'gzip' && isStream) {
        outgoing.writeHead(answer.statusCode!, { ...sent, 'content-encoding': 'gzip' })
        const gzip = createGzip()
        answer.on('data', (piece) => {
          gzip.write(piece)
          gzip.flush()
        })
        gzip.pipe(outgoing)
        return
      }
      const pieces: Buffer[] = []
      answer.on('data', (piece) => pieces.push(piece))
      answer.on('end', () => {
        outgoing.writeHead(answer.statusCode!, sent)
        outgoing.end(Buffer.concat(pieces))
      })
    })
    outgoing.on('close', () => out.destroy())
    out.on('error', () => outgoing.destroy())
    incoming.pipe(out)
  })
  const port = await listen(proxy)
  onTestFinished(() => {
    proxy.close()
    proxy.closeAllConnections()
  })
  return `http://127.0.0.1:${port}`
}

describe('packages', () => {
  const project = join(folder, 'project')
  const installed = (name: string, version: string) => ({
    [`node_modules/${name}/package.json`]: { name, version },
  })

  test('a Node, an agentwire and peers that fit are ok, and peers that are not installed are not named', () => {
    write(project, {
      ...installed('agentwire', VERSION),
      ...installed('express', '5.1.0'),
      ...installed('@langchain/langgraph', '1.4.2'),
    })
    expect(packageChecks(project, '20.20.0').map(({ level, text }) => `${level}: ${text}`)).toEqual([
      'ok: Node 20.20.0.',
      `ok: agentwire ${VERSION}.`,
      'ok: @langchain/langgraph 1.4.2.',
      'ok: express 5.1.0.',
    ])
  })

  test('a Node or a peer that does not fit is a problem, with the command that mends it', () => {
    const other = join(project, 'inner')
    write(other, { ...installed('express', '3.0.0'), ...installed('agentwire', '0.0.1') })
    const told = packageChecks(other, '18.20.0').map(({ level, text }) => `${level}: ${text}`)
    expect(told).toEqual([
      'problem: Node 18.20.0 is too old: install Node 20.20 or newer.',
      expect.stringMatching(
        /^warning: .+ has agentwire 0\.0\.1, but this command is of .+: run “npx agentwire doctor”/,
      ),
      'ok: @langchain/langgraph 1.4.2.',
      'problem: express 3.0.0 is not in ^4.21.0 || ^5.0.0: run “npm install "express@^5.0.0"”.',
    ])
  })

  test('a folder without agentwire is told to install it', () => {
    const [, own] = packageChecks(folder, '22.0.0')
    expect(own).toMatchObject({ level: 'warning', text: expect.stringContaining('npm install agentwire') })
  })

  test.each([
    ['1.4.0', '^1.4.0', true],
    ['1.3.9', '^1.4.0', false],
    ['2.0.0', '^1.4.0', false],
    ['2.0.0', '^1.0.0 || ^2.0.0', true],
    ['0.5.29', '^0.5.1', true],
    ['0.6.0', '^0.5.1', false],
    ['6.0.0', '>=5', true],
    ['0.2.9', '>=0.3', false],
    ['0.3.0', '>=0.3', true],
    ['5.0.0-rc.1', '^5.0.0', true],
  ])('%s in %s: %s', (version, range, expected) => {
    expect(isInRange(version, range)).toBe(expected)
  })
})

describe('databases', () => {
  test('one that is reachable and migrated is ok, and one that is not is a problem with the next step', async () => {
    const url = `file:${join(folder, 'agents.db')}`
    const before = await doctor([], { STORAGE_URL: url })
    expect(before.ok).toBe(false)
    expect(before.of('storage').join()).toMatch(
      /problem: STORAGE_URL .*Not migrated.*“agentwire storage migrate”/,
    )
    const storage = await openStorage(url)
    await storage.setup()
    await storage.close()
    const after = await doctor([], { STORAGE_URL: url })
    expect(after.ok).toBe(true)
    expect(after.of('storage').join()).toMatch(/ok: STORAGE_URL .*Reachable.*ok: .*Migrated.*ok: .*Durable/)
  })

  test('each variable is checked, and none is said', async () => {
    const told = await doctor([], {
      DATABASE_URL: 'postgres://me:s3cret@127.0.0.1:1/db',
      REDIS_URL: 'mysql://a',
    })
    expect(told.of('storage').join('\n')).toMatch(
      /problem: DATABASE_URL \(postgres:\/\/me@127\.0\.0\.1:1\/db\): .*ECONNREFUSED/,
    )
    expect(told.of('storage').join('\n')).toMatch(/problem: REDIS_URL .*scheme mysql:/)
    expect(told.of('storage').join('\n')).not.toContain('s3cret')
    expect((await doctor([], { STORAGE_URL: '' })).of('storage')).toEqual([
      expect.stringMatching(/^warning: None of STORAGE_URL, DATABASE_URL, REDIS_URL is set/),
    ])
  })
})

test('a port that is free is ok, and one in use is a warning', async () => {
  const taken = createServer()
  const port = await listen(taken)
  onTestFinished(() => void taken.close())
  expect((await doctor(['--port', `${port}`])).of('port')).toEqual([
    expect.stringMatching(`^warning: Port ${port} is in use: stop the program`),
  ])
  expect((await doctor([])).of('port')).toEqual([expect.stringMatching(/^ok: Port \d+ is free\.$/)])
})

describe('a running server', () => {
  test('that is open streams, and its authentication is named', async () => {
    const told = await doctor(['--url', await startServer()])
    expect(told.ok).toBe(true)
    expect(told.of('authentication')).toEqual([expect.stringMatching(/^ok: Anyone who reaches the server/)])
    expect(told.of('streaming')).toEqual([expect.stringMatching(/^ok: Streams are not buffered/)])
  })

  test('with authentication is asked with the headers that are given', async () => {
    const url = await startServer((request) =>
      request.headers.get('authorization') === 'Bearer me' ? { id: 'me' } : null,
    )
    const without = await doctor(['--url', url])
    expect(without.of('authentication')).toEqual([
      expect.stringMatching(/^warning: Authentication is on \(401\)/),
    ])
    expect(without.of('streaming')).toEqual([])
    const told = await doctor(['--url', url, '--header', 'authorization: Bearer me'])
    expect(told.of('authentication')).toEqual(['ok: Authentication is on.'])
    expect(told.of('streaming')).toEqual([expect.stringMatching(/^ok: /)])
  })

  test('whose proxy buffers or compresses streams is a problem', async () => {
    const url = await startServer()
    const [whole, gzip] = await Promise.all([
      startProxy(url, 'whole').then((origin) => doctor(['--url', origin])),
      startProxy(url, 'gzip').then((origin) => doctor(['--url', origin])),
    ])
    expect(whole.of('streaming')).toEqual([
      expect.stringMatching(/^problem: No bytes of a stream came in 10 s\./),
    ])
    expect(gzip.of('streaming')).toEqual([expect.stringMatching(/^problem: Streams are compressed \(gzip\)/)])
  })

  test('that is not there, or is another one, is a problem with the next step', async () => {
    const other = await openServer(createServer((_, response) => response.end('<p>Hello</p>')))
    onTestFinished(() => other.close())
    const [gone, wrong, below] = await Promise.all([
      doctor(['--url', `http://127.0.0.1:${await freePort()}`]),
      doctor(['--url', other.origin]),
      doctor(['--url', `${await startServer()}/agents`]),
    ])
    expect(gone.of('server')).toEqual([
      expect.stringMatching(/^problem: .* cannot be reached: .*ECONNREFUSED/),
    ])
    expect(wrong.of('server')).toEqual([
      expect.stringMatching(/^problem: .* is no server of agentwire: it answers 200/),
    ])
    expect(below.of('server')).toEqual([expect.stringMatching(/^problem: .* has no event stream .* 404/)])
  })
})

test.each([
  [['now'], 'takes options only'],
  [['--url', 'example.com'], '--url must be an http: or https: URL'],
  [['--header', 'no value'], '--header must be a name, a colon and a value'],
  [['--port', 'x'], '--port must be a number'],
])('%j makes no sense: 2, and why', async (args, why) => {
  const printed: string[] = []
  const out = (text: string): void => void printed.push(text)
  expect(await run(['doctor', ...args], { env: {}, out, problem: out })).toBe(2)
  expect(printed.join('\n')).toContain(why)
})
