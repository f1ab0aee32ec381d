import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runServerAudits } from '../../src/audit/index.ts'
import type { OpenClient } from '../a2a/clients/client.ts'
import { scenarios } from '../a2a/clients/scenarios.ts'
import { openLegacy, openV1 } from '../a2a/clients/v1.ts'
import { openV03 } from '../a2a/clients/v03.ts'
import { audited } from '../conformance/audited/agents.ts'
import { webSocketFactory } from '../conformance/audited/sockets.ts'
import { threadClient } from '../kit/client.ts'
import { isTerminal } from '../kit/events.ts'
import { openServer } from '../kit/listen.ts'
import { startProgram, typescript } from '../kit/program.ts'
import { eventually } from '../kit/wait.ts'
import { socketScenarios } from './sockets.ts'
import { RUNTIMES, type Started } from './start.ts'

/** `node test/runtimes/run.mjs` installs the runtimes, and names those that start on this machine. */
const { RUNTIMES_FOLDER: folder = '', RUNTIMES: names = '' } = process.env
const runtimes = names.split(',').filter((name) => name !== '')

let threads = 0
const open = (base: string) => threadClient(base, `thread-${++threads}`, {})

/** The published clients of A2A, of which each reads the card and speaks its version. */
const A2A_CLIENTS: Readonly<Record<string, OpenClient>> = {
  '0.3.14': openV03,
  '1.3.0': openV1,
  '1.3.0 that speaks v0.3': openLegacy,
}
const openA2A = (base: string, assistantId: string, openClient: OpenClient) => {
  const { origin, pathname } = new URL(base)
  return openClient(origin, `${pathname}/.well-known/agent-card.json?assistant_id=${assistantId}`, fetch)
}

/** Everything that the last message of the thread says. */
async function lastText(base: string, threadId: string): Promise<string> {
  const { body } = await threadClient(base, threadId, {}).get('/state')
  return JSON.stringify(body.values.messages.at(-1).content)
}

describe.skipIf(runtimes.length === 0)('outside of Node (node test/runtimes/run.mjs)', () => {
  describe.each(runtimes)('%s', (name) => {
    const { program, start } = RUNTIMES[name]!
    let started: Started
    beforeAll(async () => {
      started = await start(join(folder, name), program)
    })
    afterAll(() => started?.close())

    test.each(['/functions', '/hono', '/graphs'])(
      'keeps every rule of the protocol at %s',
      {
        timeout: 240_000,
        // workerd may reset the connection of an upload that was refused before its end.
        retry: 2,
      },
      async (mount) => {
        const baseUrl = started.origin + mount
        const options = { baseUrl, webSocketFactory, ...audited, timeoutMs: 40_000, concurrency: 8 }
        const found = await runServerAudits(options)
        const missed = found.filter(({ passed, skipped }) => !passed && !skipped)
        expect(missed.map(({ rule, detail }) => `${rule}: ${detail}`)).toEqual([])
        // These servers let everybody in.
        expect(found.flatMap(({ rule, skipped }) => (skipped ? [rule] : []))).toEqual([
          'sockets.unauthenticated',
        ])
      },
    )

    test.each([
      ['/functions', '19'],
      ['/hono', '19'],
      ['/graphs', 'At last.'],
    ])(
      'goes on with a run whose client has disconnected, and logs no error of it, at %s',
      async (mount, end) => {
        const base = started.origin + mount
        const logged = started.errors?.().length
        const thread = open(base)
        await thread.start({ messages: [{ type: 'human', content: 'Count.' }] }, { assistant_id: 'slow' })
        const stream = await thread.stream()
        await stream.until((events) => events.length > 0)
        stream.close()
        const events = await thread.transcript()
        expect(events.filter(isTerminal).map(({ params }) => params.data.event)).toEqual(['completed'])
        expect(await lastText(base, thread.id)).toContain(end)
        expect(started.errors?.().slice(logged) ?? '').not.toContain('Error')
      },
    )

    test('serves the example, and its client finds what it expects', async ({ onTestFinished }) => {
      const { start, example, startExample = start } = RUNTIMES[name]!
      const { origin, close } = await startExample(join(folder, name), example)
      onTestFinished(async () => void (await close()))
      const client = startProgram(process.execPath, [
        ...typescript('examples/bun-deno-workers/client.ts'),
        origin,
      ])
      onTestFinished(() => void client.child.kill())
      expect([await client.exit, client.text()]).toEqual([0, expect.stringContaining('You said yes.')])
    })

    describe.each(['/functions', '/hono', '/graphs'])('web sockets at %s', (mount) => {
      test.each(Object.entries(socketScenarios))('%s', (_, scenario) => scenario(started.origin + mount))
    })

    describe.each(['/functions', '/hono', '/graphs'])('A2A at %s', (mount) => {
      test.each(Object.entries(A2A_CLIENTS))(
        'serves every scenario of the client %s',
        async (_, openClient) => {
          const client = await openA2A(started.origin + mount, 'greeter', openClient)
          await Promise.all(Object.values(scenarios).map((scenario) => scenario(client)))
        },
      )

      test('tells a webhook how a task goes on', async ({ onTestFinished }) => {
        const told: string[] = []
        const receiver = createServer(async (request, response) => {
          const task = JSON.parse(await text(request))
          told.push(`${request.headers['x-a2a-notification-token']} ${task.status.state}`)
          response.end()
        })
        const { origin, close } = await openServer(receiver)
        onTestFinished(close)
        const client = await openA2A(started.origin + mount, 'greeter', openV03)
        const { id } = await client.send('Ask me')
        const { hostname, port } = new URL(origin)
        for (const host of [hostname, 'localhost'])
          await client.setPush(id, { id: host, url: `http://${host}:${port}/`, token: host })
        await client.send('yes', { taskId: id })
        const isTold = (host: string) => told.includes(`${host} completed`)
        await eventually(() => isTold(hostname) && isTold('localhost'), { what: 'The end of the task' })
      })
    })
  })
})

describe.runIf(runtimes.includes('workerd'))('Workers (node test/runtimes/run.mjs)', () => {
  const { program, start, example } = RUNTIMES.workerd!
  const inFolder = (which: string) => start(join(folder, 'workerd'), which)

  test('a server that a module makes starts, and its run goes on after the response', async ({
    onTestFinished,
  }) => {
    const { origin, close } = await inFolder(program)
    onTestFinished(async () => void (await close()))
    const base = `${origin}/in-module`
    const thread = open(base)
    await thread.start({ messages: [] }, { assistant_id: 'slow' })
    await expect
      .poll(async () => (await thread.get('')).body.status, { timeout: 15_000, interval: 200 })
      .toBe('idle')
    expect(await lastText(base, thread.id)).toContain('19')
  })

  test('a server that a module makes answers over A2A', async ({ onTestFinished }) => {
    const { origin, close } = await inFolder(program)
    onTestFinished(async () => void (await close()))
    const client = await openA2A(`${origin}/in-module`, 'slow', openV1)
    const { id } = await client.send('Count.')
    expect((await client.get(id)).text).toContain('19')
  })

  test('the example with a Durable Object streams, asks, is answered, cancels, and shows it all after a reload', async ({
    onTestFinished,
  }) => {
    const { origin, close } = await inFolder(example)
    onTestFinished(async () => void (await close()))
    const asking = open(origin)
    await asking.start({ messages: [{ type: 'human', content: 'Do it.' }] }, { assistant_id: 'approval' })
    await asking.transcript()
    const [question] = (await asking.get('/state')).body.tasks.flatMap(
      ({ interrupts }: { interrupts: unknown[] }) => interrupts,
    )
    expect(question.value).toBe('Shall I?')
    await asking.ok('input.respond', { interrupt_id: question.id, response: 'yes' })
    await asking.transcript(2)
    expect(await lastText(origin, asking.id)).toBe('"You said yes."')

    const counting = open(origin)
    const runId = await counting.start({ messages: [] }, { assistant_id: 'counter' })
    const stream = await counting.stream()
    await stream.until((events) => events.some(({ method }) => method === 'messages'))
    expect((await counting.post(`/runs/${runId}/cancel?wait=1`)).status).toBeLessThan(300)
    const ends = (await counting.transcript()).filter(isTerminal)
    expect(ends.map(({ params }) => params.data.event)).toEqual(['interrupted'])
  })
})
