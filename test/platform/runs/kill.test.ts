import { createServer } from 'node:http'
import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, onTestFinished, test } from 'vitest'
import { defineAgent } from '../../../src/index.ts'
import { openStorage } from '../../../src/storage/open.ts'
import { BACKENDS } from '../../kit/backends.ts'
import { bundleOf } from '../../kit/bundle.ts'
import { request } from '../../kit/client.ts'
import type { Json } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'
import { listen } from '../../kit/listen.ts'
import { ORIGIN, programs } from '../../kit/program.ts'
import { eventually } from '../../kit/wait.ts'

const start = programs()

const echo = defineAgent({ run: async ({ input }) => ({ said: input }) })

/** A receiver of webhooks. */
async function receiver() {
  const bodies: Json[] = []
  const server = createServer(async (incoming, response) => {
    let text = ''
    for await (const part of incoming) text += part
    bodies.push(JSON.parse(text))
    response.end()
  })
  const port = await listen(server)
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${port}/`, bodies }
}

describe.each(BACKENDS.filter((backend) => backend.installed()))('over $name', (backend) => {
  test('after kill -9 another instance starts what was to start later, delivers every webhook, and deletes threads of runs without one', {
    timeout: 240_000,
  }, async () => {
    const database = await backend.create()
    onTestFinished(() => database.remove())
    const { url: webhook, bodies } = await receiver()
    const first = start(process.execPath, [await bundleOf('test/platform/runs/worker.ts')], {
      ...process.env,
      STORAGE: database.url,
    })
    const [origin = ''] = ORIGIN.exec(await first.output(/ready/)) ?? []
    const client = new Client({ apiUrl: origin, apiKey: null, callerOptions: { maxRetries: 0 } })
    const [running, later] = [await client.threads.create(), await client.threads.create()]
    const cut = await client.runs.create(running.thread_id, 'echo', { input: { n: 1 }, webhook })
    const delayed = await client.runs.create(later.thread_id, 'echo', {
      input: { n: 2 },
      // Long after the kill, however busy the machine is.
      afterSeconds: 6,
      webhook,
    })
    const alone = async (body: object) =>
      (await request(origin, 'POST', '/runs', { assistant_id: 'echo', ...body })).body.run_id as string
    const quiet = await alone({ input: { n: 3 } })
    const told = await alone({ input: { n: 4 }, webhook })
    const kept = await alone({ input: { n: 5 }, on_completion: 'keep' })
    const waits = client.runs.wait(null, 'echo', { input: { n: 6 } }).catch(() => 'broken off')
    await eventually(() => first.text().match(/began/g)?.length === 5)
    first.child.kill('SIGKILL')
    await first.exit
    expect(await waits).toBe('broken off')

    const storage = await openStorage(database.url)
    onTestFinished(() => storage.close())
    const platform = { webhooks: { allowLoopback: true } }
    const options = { agents: { echo }, platform, leaseTtlMs: 1_000, sweepMs: 200, onError() {} }
    const second = await serveAgents({ ...storage, ...options })
    const other = new Client({ apiUrl: second.origin, apiKey: null, callerOptions: { maxRetries: 0 } })
    expect(await other.runs.join(later.thread_id, delayed.run_id)).toMatchObject({ said: { n: 2 } })
    await eventually(() => new Set(bodies.map((body) => body.run_id)).size === 3)
    const byRun = Object.fromEntries(bodies.map((body) => [body.run_id, body]))
    expect(byRun[delayed.run_id]).toMatchObject({ status: 'success', values: { said: { n: 2 } } })
    for (const runId of [cut.run_id, told])
      expect(byRun[runId]).toMatchObject({ status: 'error', values: null, error: { error: 'Error' } })
    const left = [running.thread_id, later.thread_id, kept].sort()
    const threads = async () => (await other.threads.search()).map(({ thread_id }) => thread_id).sort()
    await eventually(async () => (await threads()).join() === left.join())
    for (const gone of [quiet, told])
      expect((await request(second.origin, 'GET', `/runs/${gone}`)).status).toBe(404)
    expect(first.text()).not.toContain('reported')
  })
})
