import * as fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { type SocketSession, socketOf } from '../../../src/core/http/index.ts'
import { textFrame, textsOf } from '../../../src/core/http/sockets/native.ts'
import { createAgentServer, defineAgent, type WebHandler } from '../../../src/index.ts'
import { ALL_CHANNELS } from '../../kit/channels.ts'
import type { Json } from '../../kit/events.ts'
import { eventually } from '../../kit/wait.ts'

const agent = defineAgent({
  async run({ custom, input }) {
    const { count, size = 10 } = input as { count: number; size?: number }
    for (let n = 0; n < count; n++) {
      custom({ name: 'tick', payload: 'x'.repeat(size) })
      if (n % 7 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  },
})

function serve(): WebHandler {
  const server = createAgentServer({ agents: { a: agent }, authenticate: () => ({ id: 'one' }) })
  onTestFinished(() => server.close())
  return server
}

/** A session whose network takes something only when the test says so. */
interface Held {
  readonly session: SocketSession
  readonly received: Json[]
  /** The bytes that wait. */
  waiting(): number
  /** Takes what waits. */
  take(): void
  /** Takes everything at once from now on. */
  flow(): void
}

async function hold(server: WebHandler, threadId: string): Promise<Held> {
  const request = new Request(`http://localhost/threads/${threadId}/stream`, {
    headers: { upgrade: 'websocket' },
  })
  const session = socketOf(await server.fetch(request))!
  const received: Json[] = []
  let waiting: Uint8Array[] = []
  let flows = false
  const take = () => {
    const taken = waiting
    waiting = []
    for (const frames of taken) received.push(...textsOf(frames).map((text) => JSON.parse(text)))
    if (taken.length > 0) session.drain()
  }
  session.open({
    send(frames) {
      waiting.push(frames)
      if (flows) take()
      return flows
    },
    close: () => session.close(),
  })
  return {
    session,
    received,
    waiting: () => waiting.reduce((size, { length }) => size + length, 0),
    take,
    flow() {
      flows = true
      take()
    },
  }
}

const eventsOf = ({ received }: Held) => received.filter(({ type }) => type === 'event')
const isEnd = ({ method, params }: Json) => method === 'lifecycle' && params.data.event === 'completed'
const subscribe = (held: Held, params: object = {}) =>
  held.session.message(
    JSON.stringify({
      id: 1,
      method: 'subscription.subscribe',
      params: { channels: ALL_CHANNELS, ...params },
    }),
  )

async function run(server: WebHandler, threadId: string, input: object): Promise<void> {
  const body = JSON.stringify({ id: 1, method: 'run.start', params: { assistant_id: 'a', input } })
  const response = await server.fetch(
    new Request(`http://localhost/threads/${threadId}/commands`, { method: 'POST', body }),
  )
  expect(response.status).toBe(200)
}

test('a socket that is not read holds one batch, slows nobody, and gets everything once it is read', async () => {
  const server = serve()
  const [stalled, other] = await Promise.all([hold(server, 't'), hold(server, 't')])
  other.flow()
  for (const held of [stalled, other]) subscribe(held)
  await eventually(() => stalled.waiting() > 0)
  stalled.take()
  await run(server, 't', { count: 3_000, size: 500 })
  await eventually(() => eventsOf(other).some(isEnd))
  expect(stalled.waiting()).toBeGreaterThan(0)
  expect(stalled.waiting()).toBeLessThanOrEqual(65_536)
  stalled.flow()
  await eventually(() => eventsOf(stalled).some(isEnd))
  expect(eventsOf(stalled)).toEqual(eventsOf(other))
})

test('whatever joins, leaves and waits on a socket, its events are those of the log, each once and in order', async () => {
  const FILTERS = [ALL_CHANNELS, ['lifecycle'], ['custom'], ['lifecycle', 'custom:tick']]
  const step = fc.oneof(
    fc.record({ kind: fc.constant('join' as const), filter: fc.nat({ max: FILTERS.length - 1 }) }),
    fc.record({ kind: fc.constant('take' as const) }),
    fc.record({ kind: fc.constant('turn' as const) }),
    fc.record({ kind: fc.constant('run' as const), count: fc.integer({ min: 1, max: 60 }) }),
    fc.record({ kind: fc.constant('leave' as const), which: fc.nat({ max: 5 }) }),
    fc.record({ kind: fc.constant('lose' as const) }),
  )
  const server = serve()
  let made = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
      const threadId = `t${++made}`
      let held = await hold(server, threadId)
      /** The first subscription wants everything from where the socket before has ended. */
      const seen: Json[] = []
      const open = () => subscribe(held, { since: seen.at(-1)?.seq ?? 0 })
      const keep = () => {
        const last = seen.at(-1)?.seq ?? 0
        // Other subscriptions replay the past, which this one has had.
        for (const event of eventsOf(held))
          if (event.seq > Math.max(last, seen.at(-1)?.seq ?? 0)) seen.push(event)
      }
      open()
      let runs = 0
      for (const one of steps) {
        if (one.kind === 'join') subscribe(held, { channels: FILTERS[one.filter] })
        else if (one.kind === 'take') held.take()
        else if (one.kind === 'turn') await new Promise((resolve) => setImmediate(resolve))
        else if (one.kind === 'run') {
          runs++
          await run(server, threadId, { count: one.count })
        } else if (one.kind === 'leave') {
          // The first subscription stays.
          const ids = held.received.flatMap(({ result }) => result?.subscription_id ?? []).slice(1)
          const id = ids[one.which]
          if (id)
            held.session.message(
              JSON.stringify({ id: 2, method: 'subscription.unsubscribe', params: { subscription_id: id } }),
            )
        } else {
          keep()
          held.session.close()
          held = await hold(server, threadId)
          open()
        }
      }
      held.flow()
      const isOver = () => {
        keep()
        return seen.filter(isEnd).length === runs
      }
      await eventually(isOver, { timeoutMs: 200_000, what: 'The last run' })
      expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, i) => i + 1))
    }),
    { numRuns: 100 },
  )
})

test('texts of every length come out of their frames as they went in', () => {
  for (const length of [0, 1, 125, 126, 127, 65_535, 65_536, 70_000]) {
    const text = 'ä'.repeat(length / 2) + 'x'.repeat(length % 2)
    expect(textsOf(textFrame(text))).toEqual([text])
  }
})
