import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { threeSteps } from '../fixtures/graphs.ts'
import { dataOf, isTerminal, type WireEvent } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { custom, puppet } from '../kit/puppet.ts'

const ended = (runs: number) => (events: readonly WireEvent[]) => events.filter(isTerminal).length === runs

/** A thread with two runs behind it. */
async function twoRuns() {
  const host = await serveAgents({ agents: { a: langgraph(threeSteps()) } })
  const thread = host.thread()
  await thread.start({ notes: ['first'] })
  await thread.idle()
  await thread.start({ notes: ['second'] })
  const all = await thread.transcript(2)
  return { host, thread, all }
}

describe('a cursor', () => {
  test.each(['since', 'since_event_id', 'sinceEventId', 'Last-Event-ID'])(
    '%s at any event gives exactly the later events of all runs',
    async (kind) => {
      const { thread, all } = await twoRuns()
      for (const [at, event] of all.slice(0, -1).entries()) {
        const stream =
          kind === 'Last-Event-ID'
            ? await thread.stream({}, { 'last-event-id': event.event_id })
            : await thread.stream({ [kind]: kind === 'since' ? event.seq : event.event_id })
        const rest = all.slice(at + 1)
        expect(await stream.until((events) => events.length >= rest.length)).toEqual(rest)
        stream.close()
      }
    },
  )

  test('at the last event gives nothing of the past and all new events', async () => {
    const { thread, all } = await twoRuns()
    const last = all.at(-1)!
    const streams = [
      await thread.stream({ since: last.seq }),
      await thread.stream({}, { 'last-event-id': last.event_id }),
    ]
    await thread.start()
    const fresh = (await thread.transcript(3)).slice(all.length)
    for (const stream of streams) expect(await stream.until(ended(1))).toEqual(fresh)
  })

  test('as an event id has precedence over since', async () => {
    const { thread, all } = await twoRuns()
    const stream = await thread.stream(
      { since: 0, since_event_id: all[5]!.event_id },
      { 'last-event-id': all[3]!.event_id },
    )
    const events = await stream.until((seen) => seen.some((event) => event.seq === all.at(-1)!.seq))
    expect(events).toEqual(all.slice(4))
  })

  test.each([
    ['of another shape', 'abc'],
    ['that is a synthetic id', 'synth:1:values'],
    ['empty', ''],
    ['with a token of another writer', 'token'],
    ['beyond the log', 'beyond'],
    ['huge', '9'.repeat(400)],
    ['with a sign', '1--1'],
    ['of seq 0', '1-0'],
  ])('that nobody knows, %s: what a new client gets', async (_, id) => {
    const { thread, all } = await twoRuns()
    const [token, seq] = all[4]!.event_id.split('-').map(Number)
    const unknown = { token: `${token! - 1}-${seq}`, beyond: `${token}-${seq! + 1_000}` }[id] ?? id
    const stream = await thread.stream({ since_event_id: unknown })
    const fresh = await (await thread.stream()).until(ended(1))
    expect(await stream.until(ended(1))).toEqual(fresh)
  })

  test('beyond the log gives what a new client gets', async () => {
    const { thread, all } = await twoRuns()
    const fresh = await (await thread.stream()).until(ended(1))
    for (const since of [all.at(-1)!.seq + 1, Number.MAX_SAFE_INTEGER]) {
      const stream = await thread.stream({ since })
      expect(await stream.until(ended(1))).toEqual(fresh)
    }
  })

  test('with an unknown event id falls back to since', async () => {
    const { thread, all } = await twoRuns()
    const stream = await thread.stream({ since: all[2]!.seq, since_event_id: 'abc' })
    expect(await stream.until(ended(2))).toEqual(all.slice(3))
  })
})

test('a new client in the middle of a run gets the whole run and then new events, each once', async () => {
  const actor = puppet()
  const host = await serveAgents({ agents: { a: actor.agent } })
  const thread = host.thread()
  await thread.start()
  const first = await thread.stream()
  actor.emit(...[1, 2, 3].map((n) => custom(n)))
  await first.until((events) => dataOf(events, 'custom').length === 3)
  const late = await thread.stream()
  await late.until((events) => dataOf(events, 'custom').length === 3)
  actor.emit(...[4, 5].map((n) => custom(n)))
  actor.finish()
  expect(await late.until(ended(1))).toEqual(await first.until(ended(1)))
  expect(dataOf(late.events, 'custom').map(({ payload }) => payload)).toEqual([1, 2, 3, 4, 5])
})

test('over sockets each client sees each of its events once and in order, whatever its filters, joins, cuts and cursors are', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          emit: fc.nat({ max: 30 }),
          cut: fc.boolean(),
          by: fc.constantFrom('since', 'id', 'nothing'),
        }),
        {
          minLength: 1,
          maxLength: 6,
        },
      ),
      async (turns) => {
        const actor = puppet()
        const host = await serveAgents({ agents: { a: actor.agent } })
        const thread = host.thread()
        await thread.start()
        const seen = new Map<string, WireEvent>()
        let stream = await thread.stream()
        let sent = 0
        for (const { emit, cut, by } of turns) {
          actor.emit(...Array.from({ length: emit }, () => custom(sent++)))
          if (!cut) continue
          const last = stream.events.at(-1)
          for (const event of stream.events) seen.set(event.event_id, event)
          const before = stream.events.length
          host.cut()
          expect(await stream.ended).toBe('broken')
          for (const event of stream.events.slice(before)) seen.set(event.event_id, event)
          const newest = stream.events.at(-1) ?? last
          const cursor =
            !newest || by === 'nothing'
              ? {}
              : by === 'since'
                ? { since: newest.seq }
                : { since_event_id: newest.event_id }
          stream = await thread.stream(cursor)
          if (newest && by !== 'nothing') {
            actor.emit(custom(sent++))
            const [next] = await stream.until((events) => events.length > 0)
            expect(next!.seq).toBe(newest.seq + 1)
          }
        }
        actor.finish()
        for (const event of await stream.until(ended(1))) seen.set(event.event_id, event)
        const all = await thread.transcript()
        expect([...seen.values()].sort((a, b) => a.seq - b.seq)).toEqual(all)
        expect(dataOf(all, 'custom').map(({ payload }) => payload)).toEqual(
          Array.from({ length: sent }, (_, at) => at),
        )
        await host.server.close()
      },
    ),
    { numRuns: 15 },
  )
})
