import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromState } from '../../examples/demo/page/conversation.js'
import { readEvents } from '../../examples/demo/page/protocol.js'
import { hasPostgres, sharedPostgres } from '../kit/postgres-server.ts'
import { type Program, programs, typescript } from '../kit/program.ts'

const run = programs()
const PATIENCE_MS = 60_000

describe('SQLite', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'agentwire-demo-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test(
    'a demo that was killed goes on where it was',
    async () => {
      const path = join(folder, 'demo.db')
      await survivesKill(`file:${path}`, `file:${path}`, async () => {
        const database = new Database(path)
        database.exec(LEASES_ARE_OVER)
        database.close()
      })
    },
    PATIENCE_MS,
  )
})

describe.runIf(hasPostgres())('Postgres', () => {
  test(
    'a demo that was killed goes on where it was',
    async () => {
      const server = new pg.Client({ connectionString: await sharedPostgres() })
      await server.connect()
      await server.query('CREATE DATABASE demo')
      await server.end()
      const url = new URL(await sharedPostgres())
      url.password = 's3cret'
      url.pathname = '/demo'
      await survivesKill(url.href, url.href.replace(':s3cret', ''), async () => {
        const client = new pg.Client({ connectionString: url.href })
        await client.connect()
        await client.query(LEASES_ARE_OVER)
        await client.end()
      })
    },
    PATIENCE_MS,
  )
})

/** The time of a killed process's leases passes, without anybody waiting for it. */
const LEASES_ARE_OVER =
  'UPDATE agentwire_partitions SET lease_until = lease_until - 3600000 WHERE lease_until IS NOT NULL'

async function survivesKill(url: string, shown: string, passTime: () => Promise<void>): Promise<void> {
  const first = await start(url)
  expect(first.text()).toContain(`Its threads are kept in ${shown}.`)
  await untilEnd(first, await say(first, '2 + 2'))
  const runId = await say(first, 'Tell me a story')
  const before: ProtocolEvent[] = []
  for await (const event of events(first)) {
    before.push(event)
    if (JSON.stringify(event).includes('miller')) break
  }
  first.child.kill('SIGKILL')
  await first.exit
  await passTime()

  const second = await start(url)
  const after = await untilEnd(second, runId)
  expect(after.slice(0, before.length)).toEqual(before)
  expect(after.map(({ seq }) => seq)).toEqual(after.map((_, i) => i + 1))
  expect(after.map(endOf).filter((end) => end?.runId === runId)).toEqual([{ runId, event: 'completed' }])
  const state = await (await fetch(`${second.origin}/threads/talk/state`)).json()
  const words = fromState(state)
    .scopes.get('')!
    .map(({ text }) => text)
  expect(words).toEqual([
    '2 + 2',
    'Let me ask the math-whiz.',
    '2 + 2 = 4.',
    'Tell me a story',
    expect.stringMatching(/^Once there was a stream.+ went home for supper\.$/),
  ])
  expect(first.text() + second.text()).not.toContain('s3cret')

  second.child.kill('SIGTERM')
  expect(await second.exit).toBe(0)
}

interface Demo extends Program {
  readonly origin: string
}

async function start(url: string): Promise<Demo> {
  const env = { ...process.env, PORT: '0', STORAGE_URL: url, OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '' }
  const demo = run(process.execPath, typescript('examples/demo/main.ts'), env)
  const text = await demo.output(/Ctrl-C stops the demo/)
  return { ...demo, origin: /http:\/\/127\.0\.0\.1:\d+/.exec(text)![0] }
}

/** Starts a run and gives its id. */
async function say(demo: Demo, content: string): Promise<string> {
  const params = { assistant_id: 'agent', input: { messages: [{ role: 'user', content }] } }
  const answer = await post(demo, 'commands', { id: 1, method: 'run.start', params })
  const { result } = (await answer.json()) as { readonly result: { readonly run_id: string } }
  return result.run_id
}

type ProtocolEvent = Awaited<ReturnType<typeof untilEnd>>[number]

/** All events of the thread, from its first to the end of that run. */
async function untilEnd(demo: Demo, runId: string) {
  const seen = []
  for await (const event of events(demo)) {
    seen.push(event)
    if (endOf(event)?.runId === runId) break
  }
  return seen
}

async function* events(demo: Demo) {
  const channels = 'values updates messages tools lifecycle input checkpoints tasks custom'.split(' ')
  const { body } = await post(demo, 'stream', { channels, since: 0 })
  yield* readEvents(body!)
}

/** Which run ended how, where the event says that. */
function endOf({ method, params }: Pick<ProtocolEvent, 'method' | 'params'>) {
  if (method !== 'lifecycle' || params.namespace.length > 0 || params.data.event === 'running')
    return undefined
  return { runId: params.data.run_id, event: params.data.event }
}

function post(demo: Demo, route: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(`${demo.origin}/threads/talk/${route}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
}
