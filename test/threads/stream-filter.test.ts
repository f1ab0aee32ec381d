import { matchesSubscription } from '@langchain/langgraph-sdk/client'
import type { Event, SubscribeParams } from '@langchain/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { createMatcher } from '../../src/engine/log/filter.ts'
import { encodeFrame, pendingEvent, topicOf } from '../../src/engine/log/frame.ts'
import type { AgentEvent } from '../../src/index.ts'
import { inOrder, nestedApproval, researchers, toolAgent } from '../fixtures/graphs.ts'
import { ALL_CHANNELS } from '../kit/channels.ts'
import { openStream, request } from '../kit/client.ts'
import { isTerminal, type WireEvent } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'

/** docs/protocol.md §4.1 and §4.2. The client filters again with `matchesSubscription`: that is the reference. */

const segment = fc.constantFrom(
  'tools',
  'tools:1',
  'tools:2',
  'tools:1:x',
  'model',
  'model:1',
  '',
  ':',
  ':1',
  'a:',
)
const namespace = fc.array(segment, { maxLength: 4 })
const name = fc.constantFrom<unknown>('a', 'b', '', 'a:b', null, undefined, 7, 0, false)
const data = fc.oneof(
  fc.record({ name, payload: fc.constant(1) }),
  fc.constantFrom<unknown>(null, 'text', 3, [], {}),
)
const method = fc.constantFrom<AgentEvent['method']>(
  'values',
  'updates',
  'messages',
  'tools',
  'lifecycle',
  'input.requested',
  'checkpoints',
  'tasks',
  'custom',
  'custom',
)
const event = fc.record({ method, namespace, data }) as fc.Arbitrary<AgentEvent>

const channel = fc.constantFrom(
  ...ALL_CHANNELS,
  'custom:a',
  'custom:',
  'custom:a:b',
  'custom:7',
  'input.requested',
  'unknown',
  '',
)
const filter = fc.record(
  {
    channels: fc.array(channel, { maxLength: 4 }),
    namespaces: fc.array(namespace, { maxLength: 3 }),
    depth: fc.nat({ max: 3 }),
  },
  { requiredKeys: ['channels'] },
)

test('an event matches a filter exactly where it matches for the SDK', () => {
  fc.assert(
    fc.property(event, filter, (sent, wanted) => {
      const { topic } = encodeFrame(pendingEvent(sent, 'run'), 1, 1)
      const { method, namespace, data } = sent
      const received = {
        type: 'event',
        seq: 1,
        method,
        params: { namespace, timestamp: 0, data },
      } as unknown as Event
      const ours = createMatcher(wanted)(topicOf({ topic, token: 1 }))
      expect(ours).toBe(matchesSubscription(received, wanted as unknown as SubscribeParams))
    }),
    { numRuns: 5_000 },
  )
})

test('over the wire a filter gives what the SDK would select of a whole run of subagents, tools and custom events', async () => {
  const agent = toolAgent(
    inOrder({ toolCalls: [{ id: 'call_report', name: 'report', args: {} }] }, { text: 'Reported.' }),
  )
  const host = await serveAgents({
    agents: { deep: langgraph(researchers()), custom: langgraph(agent), ask: langgraph(nestedApproval()) },
  })
  const question = { messages: [{ type: 'human', content: 'Q', id: 'h1' }] }
  for (const [assistant_id, input] of [
    ['deep', question],
    ['custom', question],
    ['ask', {}],
  ] as const) {
    const thread = host.thread()
    await thread.start(input, { assistant_id })
    const all = await thread.transcript()
    const places = [...new Map(all.map(({ params }) => [params.namespace.join(), params.namespace])).values()]
    const prefixes = [...places, ...places.map((place) => place.map((part) => part.split(':')[0]!))]
    const seen = fc.record(
      {
        channels: fc.array(fc.constantFrom(...ALL_CHANNELS, 'custom:progress', 'custom:other'), {
          minLength: 1,
          maxLength: 4,
        }),
        namespaces: fc.array(fc.constantFrom(...prefixes), { maxLength: 3 }),
        depth: fc.nat({ max: 2 }),
      },
      { requiredKeys: ['channels'] },
    )
    await fc.assert(
      fc.asyncProperty(seen, async (wanted) => {
        const expected = all.filter((one) => matchesSubscription(one as never, wanted as never))
        const stream = await thread.stream({ ...wanted, since: 0 })
        expect(await stream.until((events) => events.length >= expected.length)).toEqual(expected)
        stream.close()
      }),
      { numRuns: 25 },
    )
  }
})

describe('the filter body', () => {
  const serve = async () => {
    const host = await serveAgents({ agents: { a: langgraph(nestedApproval()) } })
    const thread = host.thread()
    await thread.start()
    const all = await thread.transcript()
    return { host, thread, all, url: `${host.origin}/threads/${thread.id}` }
  }

  test.each(['/stream', '/stream/events'])('%s serves the stream', async (path) => {
    const { all, url } = await serve()
    const stream = await openStream(url + path, { channels: ALL_CHANNELS, since: 0 })
    expect(await stream.until((events) => events.some(isTerminal))).toEqual(all)
  })

  test('unknown keys and channels are ignored, and null counts as omitted', async () => {
    const { all, url } = await serve()
    const body = {
      channels: [...ALL_CHANNELS, 'new', ''],
      namespaces: null,
      depth: null,
      since: 0,
      since_event_id: null,
      more: 1,
    }
    const stream = await openStream(`${url}/stream`, body)
    expect(await stream.until((events) => events.some(isTerminal))).toEqual(all)
  })

  test.each([
    [['message'], 'Did you mean messages?'],
    [['input.requested'], 'Did you mean input?'],
    [['new', ''], 'There are values, updates, messages'],
  ])(
    'a filter without any known channel is 400 with the name that was probably meant: %j',
    async (channels, hint) => {
      const { url } = await serve()
      for (const path of ['/stream', '/stream/events']) {
        const { status, body } = await request(url, 'POST', path, { channels })
        expect({ status, body }).toMatchObject({ status: 400, body: { error: 'invalid_argument' } })
        expect(body.message).toContain(hint)
      }
    },
  )

  test('depth without namespaces is ignored', async () => {
    const { thread, all } = await serve()
    for (const more of [{ depth: 0 }, { depth: 0, namespaces: [] }]) {
      const stream = await thread.stream({ ...more, since: 0 })
      expect(await stream.until((events) => events.some(isTerminal))).toEqual(all)
    }
  })

  test.each([
    {},
    { channels: 'values' },
    { channels: null },
    { channels: [] },
    { channels: [7] },
    { channels: ['values'], namespaces: 'x' },
    { channels: ['values'], namespaces: ['x'] },
    { channels: ['values'], namespaces: [[7]] },
    { channels: ['values'], depth: -1 },
    { channels: ['values'], depth: 1.5 },
    { channels: ['values'], depth: '1' },
    { channels: ['values'], since: -1 },
    { channels: ['values'], since: '3' },
    { channels: ['values'], since: 1.5 },
    { channels: ['values'], since_event_id: 3 },
    [],
    'text',
  ])('of a wrong type is 400: %j', async (body) => {
    const host = await serveAgents({ agents: { a: langgraph(nestedApproval()) } })
    const answer = await request(host.origin, 'POST', '/threads/t/stream', JSON.stringify(body))
    expect(answer).toMatchObject({
      status: 400,
      body: { error: 'invalid_argument', message: expect.any(String) },
    })
  })
})

test('a stream begins with a comment, and each frame has id, event and data on one line each', async () => {
  const host = await serveAgents({ agents: { a: langgraph(nestedApproval()) } })
  const thread = host.thread()
  await thread.start()
  const stream = await thread.stream()
  await stream.until((events: readonly WireEvent[]) => events.some(isTerminal))
  expect(stream.comments.length).toBeGreaterThan(0)
  for (const [at, { id, event: name, data: text }] of stream.frames.entries()) {
    const { type, event_id, method, seq, params } = stream.events[at]!
    expect({ id, name }).toEqual({ id: event_id, name: method })
    expect(type).toBe('event')
    expect(text).not.toContain('\n')
    expect(Number.isSafeInteger(seq)).toBe(true)
    expect(Array.isArray(params.namespace)).toBe(true)
    expect(Math.abs(params.timestamp - Date.now())).toBeLessThan(60_000)
  }
})
