import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, parse } from 'node:path'
import { build } from 'esbuild'
import Redis from 'ioredis'
import Database from 'libsql'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStorage } from '../../src/storage/open.ts'
import { listen } from '../kit/listen.ts'
import { hasPostgres, sharedPostgres } from '../kit/postgres-server.ts'
import { programs } from '../kit/program.ts'
import { hasRedis, type RedisServer, startRedis } from '../kit/redis-server.ts'
import { manifest, root } from '../package/package.ts'

const start = programs()
const folder = mkdtempSync(join(tmpdir(), 'agentwire-cli-'))
/** The program lies in the project, so that it finds the clients of databases. */
const program = join(root, '.tmp', `cli-${process.pid}.mjs`)

beforeAll(async () => {
  await bundle(program)
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
  rmSync(program, { force: true })
})

describe('SQLite', () => {
  test('check, migrate, stats', async () => {
    const path = join(folder, 'new.db')
    const check = await agentwire('check', '--url', `file:${path}`)
    expect(check.code).toBe(1)
    expect(check.text).toMatch(/problem +Not migrated: version 0 of \d+\. Run “agentwire storage migrate”/)
    expect(existsSync(path)).toBe(false)
    await goesThrough(`file:${path}`, `file:${path}`)
  })

  test.each([
    [
      'a file of something else',
      () => fileWith('These are words, and no database, as anybody can see.'.repeat(20)),
    ],
    ['a folder', () => folder],
    ['a folder that is not there', () => join(folder, 'no', 'agents.db')],
  ])('%s is a problem, told in one sentence', async (_, make) => {
    const path = make()
    const { code, text } = await agentwire('check', '--url', path)
    expect(code).toBe(1)
    expect(lines(text)).toEqual([expect.stringMatching(/^\/.+: SQLite: .+\.$/)])
    expect(text.startsWith(`${path}: `)).toBe(true)
  })

  test('tables of a later version are a problem', async () => {
    const path = join(folder, 'later.db')
    await agentwire('migrate', '--url', path)
    const database = new Database(path)
    database.exec('UPDATE agentwire_schema_version SET version = 99')
    database.close()
    for (const action of ['check', 'migrate', 'stats']) {
      const { code, text } = await agentwire(action, '--url', path)
      expect(code).toBe(1)
      expect(text).toMatch(/update/)
    }
  })
})

describe.runIf(hasPostgres())('Postgres', () => {
  let url: string

  beforeAll(async () => {
    const client = new pg.Client({ connectionString: await sharedPostgres() })
    await client.connect()
    await client.query('CREATE DATABASE cli')
    await client.end()
    const at = new URL(await sharedPostgres())
    at.password = 's3cret'
    at.pathname = '/cli'
    url = at.href
  })

  test('check, migrate, stats', async () => {
    const check = await agentwire('check', '--url', url)
    expect(check.code).toBe(1)
    expect(check.text).toMatch(/problem +Not migrated: version 0 of \d+\./)
    await goesThrough(url, url.replace(':s3cret', ''))
  })

  test('a setting that makes it less durable is a warning and not a problem', async () => {
    await agentwire('migrate', '--url', url)
    const { code, text } = await agentwire('check', '--url', `${url}?options=-c%20synchronous_commit%3Doff`)
    expect(code).toBe(0)
    expect(text).toMatch(/warning +Not durable/)
    expect(text).toMatch(/warning +synchronous_commit is off/)
  })

  test('a missing database is a problem', async () => {
    const { code, text } = await agentwire('check', '--url', url.replace(/cli$/, 'nothing'))
    expect(code).toBe(1)
    expect(lines(text)).toEqual([
      expect.stringMatching(/^postgres:\/\/postgres@.+\/nothing: .+ does not exist\.$/),
    ])
  })
})

describe.runIf(hasRedis())('Redis', () => {
  let server: RedisServer

  beforeAll(async () => {
    server = await startRedis()
    const client = new Redis(server.url)
    await client.config('SET', 'requirepass', 's3cret')
    client.disconnect()
  })
  afterAll(() => server.remove())

  test('check, migrate, stats', async () => {
    const url = server.url.replace('//', '//default:s3cret@')
    const check = await agentwire('check', '--url', url)
    expect(check.code).toBe(1)
    expect(check.text).toMatch(/problem +Not migrated: version 0 of \d+\./)
    await goesThrough(url, url.replace(':s3cret', ''))
  })

  test('a wrong password is a problem', async () => {
    const { code, text } = await agentwire(
      'check',
      '--url',
      server.url.replace('//', '//default:not-s3cret@'),
    )
    expect(code).toBe(1)
    expect(lines(text)).toEqual([expect.stringMatching(/^redis:\/\/default@127\.0\.0\.1:\d+: .+\.$/)])
  })

  test('a missing append-only file is a warning, because Redis is not durable without it', async () => {
    const forgetful = await startRedis({
      appendonly: 'no',
      maxmemory: '100mb',
      'maxmemory-policy': 'allkeys-lru',
    })
    await agentwire('migrate', '--url', forgetful.url)
    const { code, text } = await agentwire('check', '--url', forgetful.url)
    expect(code).toBe(0)
    expect(text).toMatch(/warning +Not durable/)
    expect(text).toMatch(/warning +.+Set “appendonly yes”/)
    expect(text).toMatch(/warning +.+Set “maxmemory-policy noeviction”/)
    await forgetful.remove()
  })
})

describe('a database that is out of reach', () => {
  let silent: Server
  let silentHost: string
  const sockets = new Set<{ destroy(): void }>()

  beforeAll(async () => {
    silent = createServer((socket) => sockets.add(socket))
    silentHost = `127.0.0.1:${await listen(silent)}`
  })
  afterAll(() => {
    silent.close()
    for (const socket of sockets) socket.destroy()
  })

  test.each([
    [
      'nobody listens, Postgres',
      () => 'postgres://me:s3cret@127.0.0.1:1/db',
      /cannot be reached at 127\.0\.0\.1:1: .*ECONNREFUSED/,
    ],
    [
      'nobody answers, Postgres',
      () => `postgres://me:s3cret@${silentHost}/db`,
      /Timed out connecting to Postgres at 127\.0\.0\.1:\d+:/,
    ],
    ['nobody answers, Redis', () => `redis://me:s3cret@${silentHost}/db`, /time/],
  ])('%s: one sentence', async (_, make, reason) => {
    const url = make()
    const [check, migrate, stats] = await Promise.all([
      agentwire('check', '--url', url),
      agentwire('migrate', '--url', url),
      agentwire('stats', '--json', '--url', url),
    ])
    for (const { code, text } of [check, migrate]) {
      expect(code).toBe(1)
      expect(lines(text)).toEqual([
        expect.stringMatching(/^(postgres|redis):\/\/me@127\.0\.0\.1:\d+\/db: .+\.$/),
      ])
      expect(text).toMatch(reason)
    }
    expect(stats.code).toBe(1)
    expect(JSON.parse(stats.text)).toMatchObject({ ok: false, error: { code: 'unavailable' } })
  })
})

test.each([
  ['postgres', /npm install pg/],
  ['redis', /npm install ioredis/],
])('without the client of %s it says how to install it', async (scheme, how) => {
  const alone = join(folder, 'alone.mjs')
  await bundle(alone)
  const url = `${scheme}://me:s3cret@127.0.0.1:1/db`
  const { code, text } = await run(alone, ['storage', 'check', '--url', url])
  expect(code).toBe(1)
  expect(text).toMatch(how)
})

test('memory as a storage is a warning, because nothing outlives the process', async () => {
  const { code, text } = await agentwire('check', '--url', 'memory:')
  expect(code).toBe(0)
  expect(text).toMatch(/warning +Not durable/)
  expect(text).toMatch(/everything is lost when the process ends/)
})

describe('the command line', () => {
  test.each([
    [['storage'], 'check, stats, migrate'],
    [['storage', 'destroy', '--url', 'memory:'], 'check, stats, migrate'],
    [['storage', 'check', 'now', '--url', 'memory:'], 'check, stats, migrate'],
    [['storage', 'check'], '--url URL, or set STORAGE_URL'],
    [['storage', 'check', '--url', ''], '--url URL, or set STORAGE_URL'],
    [['storage', 'check', '--url', 'mysql://me:s3cret@127.0.0.1/db'], 'storage URL scheme mysql:'],
    [['storage', 'check', '--url', 'memory:', '--frob'], "Unknown option '--frob'."],
    [['storage', 'check', '--url'], "'--url <value>'"],
    [['storage', 'check', '--ur', 'memory:'], "Unknown option '--ur'. Did you mean --url?"],
  ])('%j makes no sense: 2, and where to read how it would', async (args, why) => {
    const { code, text } = await run(program, args)
    expect(code).toBe(2)
    const [problem, help] = lines(text)
    expect(problem).toContain(why)
    expect(help).toBe('Run “agentwire storage --help” for its options.')
  })

  test.each([
    [['frob'], 'Unknown command “frob”.'],
    [['creat'], 'Unknown command “creat”. Did you mean “create”?'],
    [['--frob'], 'Unknown option “--frob”.'],
  ])('%j is not known: 2, and where to read what is', async (args, why) => {
    expect(await run(program, args)).toEqual({
      code: 2,
      text: `${why}\nRun “agentwire --help” for all commands.\n`,
    })
  })

  test.each<readonly string[]>([
    [],
    ['--help'],
    ['-h'],
    ['help'],
    ['storage', '--help'],
    ['storage', 'check', '-h'],
    ['help', 'storage'],
  ])('%s %s helps', async (...args) => {
    const { code, text } = await run(program, args)
    expect(code).toBe(0)
    expect(text).toMatch(
      args.includes('storage')
        ? /^agentwire storage check/
        : /Usage: [\s\S]*\n {2}create .*[\s\S]*\n {2}storage check/,
    )
  })

  test('STORAGE_URL stands for --url', async () => {
    const { code, text } = await run(program, ['storage', 'check', '--json'], 'memory:')
    expect(code).toBe(0)
    expect(JSON.parse(text)).toMatchObject({ ok: true, url: 'memory:', name: 'memory' })
  })
})

/** Migrates an empty database, fills it, and reports on it. `shown` is the URL without its password. */
async function goesThrough(url: string, shown: string): Promise<void> {
  const migrated = await agentwire('migrate', '--url', url)
  expect(migrated).toMatchObject({
    code: 0,
    text: expect.stringMatching(/Migrated from version 0 to version \d+\./),
  })
  const again = await agentwire('migrate', '--url', url)
  expect(again).toMatchObject({
    code: 0,
    text: expect.stringMatching(/Nothing to do: already at version \d+, the newest\./),
  })

  await fill(url)
  const { code, text } = await agentwire('stats', '--json', '--url', url)
  expect(code).toBe(0)
  const stats = JSON.parse(text)
  expect(stats).toMatchObject({ ok: true, url: shown, reachable: true, durable: true })
  expect(stats.counts).toEqual({ partitions: 2, documents: 1, events: 1_234, leases: 1, checkpoints: 1 })
  expect(stats.schema.version).toBe(stats.schema.newest)
  if (stats.name !== 'redis') expect(stats.bytes).toBeGreaterThan(1_234)

  const told = await agentwire('check', '--url', url)
  expect(told.code).toBe(0)
  expect(lines(told.text)[0]).toBe(`${shown} (${stats.name})`)
  for (const line of [
    /ok +Reachable/,
    /ok +Migrated/,
    /ok +Durable/,
    /^ +1,234 events$/m,
    /^ +1 checkpoint$/m,
  ])
    expect(told.text).toMatch(line)
}

async function fill(url: string): Promise<void> {
  const { store, checkpointer, close } = await openStorage(url)
  const events = Array.from({ length: 1_234 }, (_, i) => ({
    topic: 'x',
    data: new TextEncoder().encode(`${i}`),
  }))
  await store.commit('one', {
    ops: [
      { op: 'claim', owner: 'me', token: 1, ttlMs: 600_000 },
      { op: 'append', token: 1, events },
    ],
  })
  await store.commit('two', { ops: [{ op: 'put', collection: 'c', id: 'd', value: 1 }] })
  const checkpoint = { v: 4, id: '1', ts: '', channel_values: {}, channel_versions: {}, versions_seen: {} }
  await checkpointer.put(
    { configurable: { thread_id: 'one' } },
    checkpoint,
    { source: 'input', step: -1, parents: {} },
    {},
  )
  await close()
}

async function bundle(outfile: string): Promise<void> {
  await build({
    entryPoints: { [parse(outfile).name]: join(root, 'src/cli/main.ts') },
    outdir: dirname(outfile),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // As in the package: what is loaded on demand is a file of its own.
    splitting: true,
    // What npm installs with the package is always there.
    external: [...Object.keys(manifest.peerDependencies), '@langchain/*'],
    platform: 'node',
    format: 'esm',
    target: 'node20',
  })
}

const agentwire = (...args: string[]) => run(program, ['storage', ...args])

/** Expects that the output shows no password and no stack. */
async function run(file: string, args: readonly string[], storageUrl = '') {
  const program = start(process.execPath, [file, ...args], { ...process.env, STORAGE_URL: storageUrl })
  const code = await program.exit
  const text = program.text()
  expect(text).not.toContain('s3cret')
  expect(text).not.toMatch(/^ +at /m)
  return { code, text }
}

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '')

function fileWith(text: string): string {
  const path = join(folder, 'words.txt')
  writeFileSync(path, text)
  return path
}
