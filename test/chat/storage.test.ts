import Database from 'libsql'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Backend, postgres, sqlite } from '../kit/backends.ts'
import { ALL_CHANNELS } from '../kit/channels.ts'
import { sendCommand } from '../kit/client.ts'
import type { Json, WireEvent } from '../kit/events.ts'
import { readFrames } from '../kit/frames.ts'
import { query } from '../kit/postgres-server.ts'
import { type Demo, demos, killGroup } from './demo.ts'

const { launch, ready } = demos()
const PATIENCE_MS = 60_000

describe('SQLite', () => {
  test(
    'a demo that was killed continues where it was',
    async () => {
      const url = await create(sqlite)
      await survivesKill(url, url, async () => {
        const database = new Database(url.slice('file:'.length))
        database.exec(LEASES_ARE_OVER)
        database.close()
      })
    },
    PATIENCE_MS,
  )
})

test(
  'a demo that was stopped hands its run over: the next one goes on with it at once',
  async () => {
    const url = await create(sqlite)
    const first = await start(url)
    const runId = await say(first, 'Tell me a story')
    for await (const event of events(first)) if (JSON.stringify(event).includes('miller')) break
    first.child.kill('SIGTERM')
    expect(await first.exit).toBe(0)
    const second = await start(url)
    const after = await untilEnd(second, runId)
    expect(after.map(endOf).filter((end) => end !== undefined)).toEqual([{ runId, event: 'completed' }])
    expect((await wordsOf(second)).at(-1)).toMatch(/^Once there was a stream.+ went home for supper\.$/)
    second.child.kill('SIGTERM')
    expect(await second.exit).toBe(0)
  },
  PATIENCE_MS,
)

describe.runIf(postgres.installed())('Postgres', () => {
  test(
    'a demo that was killed continues where it was',
    async () => {
      const url = new URL(await create(postgres))
      url.password = 's3cret'
      await survivesKill(url.href, url.href.replace(':s3cret', ''), async () => {
        await query(url.href, LEASES_ARE_OVER)
      })
    },
    PATIENCE_MS,
  )
})

async function create(backend: Backend): Promise<string> {
  const { url, remove } = await backend.create()
  onTestFinished(remove)
  return url
}

/** Makes the leases of a killed process expire, so that nobody has to wait for it. */
const LEASES_ARE_OVER =
  'UPDATE agentwire_partitions SET lease_until = lease_until - 3600000 WHERE lease_until IS NOT NULL'

async function survivesKill(url: string, shown: string, passTime: () => Promise<void>): Promise<void> {
  const first = await start(url)
  expect(first.text()).toContain(`Its threads are kept in ${shown}.`)
  await untilEnd(first, await say(first, '2 + 2'))
  const runId = await say(first, 'Tell me a story')
  const before: WireEvent[] = []
  for await (const event of events(first)) {
    before.push(event)
    if (JSON.stringify(event).includes('miller')) break
  }
  killGroup(first.child.pid!)
  await first.exit
  await passTime()

  const second = await start(url)
  const after = await untilEnd(second, runId)
  expect(after.slice(0, before.length)).toEqual(before)
  expect(after.map(({ seq }) => seq)).toEqual(after.map((_, i) => i + 1))
  expect(after.map(endOf).filter((end) => end?.runId === runId)).toEqual([{ runId, event: 'completed' }])
  expect(await wordsOf(second)).toEqual([
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

const start = (url: string): Promise<Demo> => ready(launch({ STORAGE_URL: url }))

/** What was said on the thread, without thoughts and results of tools. */
async function wordsOf(demo: Demo): Promise<string[]> {
  const { values } = await (await fetch(`${demo.origin}/threads/talk/state`)).json()
  return values.messages
    .filter(({ type }: Json) => type !== 'tool')
    .map(({ content }: Json) => textOf(content))
}

const textOf = (content: string | Json[]): string =>
  typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')

/** Starts a run and gives its id. */
async function say(demo: Demo, content: string): Promise<string> {
  const params = { assistant_id: 'agent', input: { messages: [{ role: 'user', content }] } }
  const { body } = await sendCommand(demo.origin, 'talk', 'run.start', params)
  return body.result.run_id
}

/** All events of the thread from its first to the end of that run. */
async function untilEnd(demo: Demo, runId: string) {
  const seen: WireEvent[] = []
  for await (const event of events(demo)) {
    seen.push(event)
    if (endOf(event)?.runId === runId) break
  }
  return seen
}

/** Reads the whole thread from its first event on. */
async function* events(demo: Demo): AsyncGenerator<WireEvent> {
  const { body } = await fetch(`${demo.origin}/threads/talk/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ channels: ALL_CHANNELS, since: 0 }),
  })
  for await (const { frames } of readFrames(body!))
    yield* frames.map(({ data }) => JSON.parse(data) as WireEvent)
}

/** The run that the event ends, and how. */
function endOf({ method, params }: Pick<WireEvent, 'method' | 'params'>) {
  if (method !== 'lifecycle' || params.namespace.length > 0 || params.data.event === 'running')
    return undefined
  return { runId: params.data.run_id, event: params.data.event }
}
