import { spawn } from 'node:child_process'
import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT } from '../kit/install.mjs'
import { hasPostgres, sharedPostgres } from '../kit/postgres-server.ts'
import { eventually } from '../kit/wait.ts'

const slow = Boolean(process.env.SLOW || process.env.CI)

/** One pool of `pg`, and the connection for LISTEN. */
const MOST_CONNECTIONS = 11

const FILES: Readonly<Record<string, string>> = {
  'lib/agents.js': `
    import { createAgentServer, defineAgent, memoryCheckpointer, memoryStore, cachedServer, postgresStorage } from './agentwire.mjs'
    import { reply } from './reply.js'
    const talk = defineAgent({ async run({ message }) { await message(reply) } })
    const wait = defineAgent({ async run({ message }) { await new Promise((done) => setTimeout(done, 3000)); await message(reply) } })
    const options = { agents: { talk, wait }, defaultAgent: 'talk', authenticate: () => ({ id: 'ann' }), drainMs: 20_000 }
    export const server = cachedServer(
      () => postgresStorage({ url: process.env.DATABASE_URL }),
      (storage) => createAgentServer({ ...options, ...storage }),
    )
    export const inMemory = cachedServer(
      () => ({ store: memoryStore(), checkpointer: memoryCheckpointer() }),
      (storage) => createAgentServer({ ...options, ...storage }),
      'in memory',
    )`,
  'app/agents/[[...path]]/route.js': `
    import { toNext } from '../../../lib/agentwire.mjs'
    import { server } from '../../../lib/agents.js'
    export const { GET, POST } = toNext(server, { basePath: '/agents' })`,
  'app/memory/[[...path]]/route.js': `
    import { toNext } from '../../../lib/agentwire.mjs'
    import { inMemory } from '../../../lib/agents.js'
    export const { GET, POST } = toNext(inMemory, { basePath: '/memory' })`,
  'app/mine/route.js': `
    import { inMemory, server } from '../../lib/agents.js'
    export const dynamic = 'force-dynamic'
    const count = async ({ engine }) => {
      let threads = 0
      for await (const _ of engine.listThreads({ principal: { id: 'ann' } })) threads++
      return threads
    }
    export const GET = async () => Response.json([await count(server), await count(inMemory)])`,
  'app/edge/route.js': `
    import { createAgentServer, defineAgent, toNext } from '../../lib/edge.mjs'
    export const runtime = 'edge'
    export const { GET } = toNext(createAgentServer({ agents: { talk: defineAgent({ async run() {} }) } }))`,
}

describe.runIf(slow && hasPostgres())('next dev (runs with SLOW=1 or CI=1)', () => {
  const folder = join(ROOT, '.tmp', `next-dev-${process.pid}`)
  let child: ReturnType<typeof spawn>
  let database: pg.Client
  let text = ''
  let origin = ''

  const write = (path: string, contents: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), contents)
  }
  const bundle = (outfile: string, contents: string) =>
    build({
      stdin: { contents, resolveDir: ROOT },
      outfile: join(folder, outfile),
      bundle: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
    })
  const edit = (reply: string) => write('lib/reply.js', `export const reply = ${JSON.stringify(reply)}`)

  beforeAll(async () => {
    const url = await sharedPostgres()
    const name = `next_dev_${process.pid}`
    const admin = new pg.Client(url)
    await admin.connect()
    await admin.query(`create database ${name}`)
    await admin.end()
    const own = new URL(url)
    own.pathname = `/${name}`
    database = new pg.Client(own.href)
    await database.connect()

    const core = `export * from './src/index.ts'; export * from './adapters/next.ts';`
    await bundle('lib/edge.mjs', core)
    await bundle(
      'lib/agentwire.mjs',
      `${core} export { postgresStorage } from './src/storage/postgres/postgres.ts'`,
    )
    for (const [path, contents] of Object.entries(FILES)) write(path, contents)
    edit('first')
    // Where the packages are links, Turbopack has to see what they lead to.
    const isLinked = realpathSync(join(ROOT, 'node_modules')) !== join(realpathSync(ROOT), 'node_modules')
    write(
      'next.config.mjs',
      `export default ${JSON.stringify({ turbopack: { root: isLinked ? '/' : ROOT } })}`,
    )

    const cli = createRequire(import.meta.url).resolve('next/dist/bin/next')
    const { NODE_ENV: _, ...env } = process.env
    child = spawn(process.execPath, [cli, 'dev', '-p', '0', '-H', '127.0.0.1'], {
      cwd: folder,
      // A group of its own: the server of `next dev` is a child of it, which would go on without it.
      detached: true,
      env: { ...env, DATABASE_URL: own.href, NEXT_TELEMETRY_DISABLED: '1' } as NodeJS.ProcessEnv,
    })
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
    const address = /http:\/\/127\.0\.0\.1:\d+/
    await eventually(() => address.test(text), { what: 'The address of next dev', timeoutMs: 200_000 })
    origin = address.exec(text)![0]
  })

  afterAll(async () => {
    if (child?.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    await database?.end()
    // A process that was just killed may still be writing.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  })

  const get = async (path: string) => (await fetch(origin + path)).json()
  const start = (mount: string, threadId: string, assistant_id = 'talk') =>
    fetch(`${origin}${mount}/threads/${threadId}/commands`, {
      method: 'POST',
      body: JSON.stringify({ id: 1, method: 'run.start', params: { assistant_id, input: {} } }),
    })
  const answer = async (mount: string, threadId: string): Promise<string | undefined> =>
    (await get(`${mount}/threads/${threadId}`)).values?.messages?.[0]?.content
  const connections = async () => {
    const others = 'datname = current_database() and pid <> pg_backend_pid()'
    return (await database.query(`select count(*)::int as n from pg_stat_activity where ${others}`)).rows[0].n
  }

  test('serves the edited agents over the same storage, from every bundle, and leaks no connection', async () => {
    for (const mount of ['/agents', '/memory']) {
      await start(mount, 'before')
      await expect.poll(() => answer(mount, 'before'), { timeout: 240_000 }).toBe('first')
      await start(mount, 'working', 'wait')
    }
    for (let number = 1; number <= 6; number++) {
      edit(`edit ${number}`)
      for (const mount of ['/agents', '/memory']) {
        // Next may answer a few requests before it has seen the edit.
        let attempt = 0
        const fresh = async () => {
          const threadId = `edit-${number}-${++attempt}`
          await start(mount, threadId)
          await expect.poll(() => answer(mount, threadId), { timeout: 240_000 }).toBeDefined()
          return answer(mount, threadId)
        }
        await expect.poll(fresh, { timeout: 240_000 }).toBe(`edit ${number}`)
      }
      const [stored, inMemory] = await get('/mine')
      expect(stored).toBeGreaterThan(number)
      expect(inMemory).toBeGreaterThan(number)
    }
    for (const mount of ['/agents', '/memory']) {
      expect(await answer(mount, 'before')).toBe('first')
      await expect.poll(() => answer(mount, 'working'), { timeout: 240_000 }).toBe('first')
    }
    // Postgres lists a connection for a moment after its client has closed it.
    await expect.poll(connections, { timeout: 240_000 }).toBeLessThanOrEqual(MOST_CONNECTIONS)
  })

  test('says of a route in the Edge runtime which runtime it needs', async () => {
    expect((await fetch(`${origin}/edge`)).status).toBe(500)
    await eventually(() => text.includes("put `export const runtime = 'nodejs'` into the route file."), {
      what: 'The sentence about the runtime',
    })
  })
})
