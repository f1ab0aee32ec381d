import { equal, hold, sse } from '../../check.ts'
import { at, dataOf, idsOf, isAtRoot, rootStates, sentOf } from '../events.ts'
import {
  agree,
  type Checks,
  isEnvelope,
  protocol,
  REACT,
  resumes,
  rules,
  rulesOf,
  SCHEMA,
  STREAM_CLIENT,
  unrepeated,
} from '../rule.ts'

const { must, should } = rules(protocol('ssehttp'))

const REPLAY = protocol('replay-and-reconnection')
const replay = rules(REPLAY)

const RULES = {
  'stream.path': must('POST /threads/{id}/stream is an event stream'),
  'stream.path.events': should('POST /threads/{id}/stream/events is the same event stream', STREAM_CLIENT),
  'stream.headers': should(
    'The response headers of a stream forbid caching, transformation and buffering',
    sse('authoring-notes'),
  ),
  'stream.before-thread': must(
    'A stream can be opened before its thread exists, and receives all events of the first run',
    SCHEMA,
  ),
  'stream.envelope': must(
    'Each event has type, event_id, seq, method, and params with namespace, timestamp and data',
    protocol('top-level-framing'),
  ),
  'stream.frames': should(
    'The id of an SSE frame is the event_id of its event',
    protocol('top-level-framing'),
  ),
  'stream.seq.rises': must('seq increases from event to event, across all runs of a thread', REPLAY),
  'stream.seq.whole': should('seq has no gaps for a subscriber to all channels', REPLAY),
  'stream.ids.unique': must('An event_id is unique in its thread, across all runs', STREAM_CLIENT),
  'stream.stays-open': must('A stream stays open when a run ends, and carries the next run', STREAM_CLIENT),
  'stream.subscribers': must('Two subscribers to a thread receive the same events in the same order', SCHEMA),
  'stream.heartbeat': should(
    'An idle stream sends comments of one line as heartbeats',
    sse('authoring-notes'),
  ),
  'replay.equals-live': replay.must('A late subscriber receives what a live one received, with the same ids'),
  'replay.midway': replay.must(
    'A subscriber that joins during a run receives its earlier events, then the rest',
    REPLAY,
    'slow',
  ),
  'replay.past-endings': replay.must(
    "A new subscriber does not receive the endings of earlier runs, which it would mistake for the current run's",
    REACT,
  ),
  'replay.since': replay.must('since returns exactly the later events, of all runs'),
  'replay.since.live': replay.must('since at the last event returns no past events, and all new ones'),
  'replay.last-event-id': replay.should(
    'Last-Event-ID resumes exactly after that event',
    sse('the-last-event-id-header'),
  ),
  'replay.unknown-id': replay.should(
    'With an unknown event id, the stream is that of a new subscriber',
    STREAM_CLIENT,
  ),
  'replay.values': replay.should(
    "The last state that a subscriber receives is the thread's state",
    protocol('values'),
  ),
}

const checks: Checks<keyof typeof RULES> = {
  async 'stream.path'({ thread }) {
    await thread().stream({}, { path: '/stream' })
  },
  async 'stream.path.events'({ thread }) {
    await thread().stream({}, { path: '/stream/events' })
  },
  async 'stream.headers'({ thread }) {
    const { headers } = (await thread().stream()).response
    const control = headers.get('cache-control') ?? ''
    const forbids = /no-cache|no-store/.test(control) && /no-transform/.test(control)
    hold('cache-control', forbids, 'no-cache, no-transform', control)
    equal('x-accel-buffering', headers.get('x-accel-buffering'), 'no')
  },
  async 'stream.before-thread'({ thread }) {
    const one = thread()
    const early = await one.stream()
    await one.start()
    const events = await early.untilEnd()
    equal('the events', idsOf(events), idsOf(await one.replay()))
    equal('the states', rootStates(events), ['running', 'completed'])
  },
  async 'stream.envelope'({ thread }) {
    const { stream } = await thread().run()
    for (const { data } of stream.frames) await isEnvelope(JSON.parse(data))
  },
  async 'stream.frames'({ thread }) {
    const { stream, events } = await thread().run()
    const ids = stream.frames.slice(0, events.length).map(({ id }) => id)
    equal('the ids of the frames', ids, idsOf(events))
  },
  async 'stream.seq.rises'({ thread }) {
    const { events } = await thread().run(2)
    for (const [index, { seq }] of events.slice(1).entries())
      hold('seq', seq > events[index]!.seq, `more than ${events[index]!.seq}`, seq)
  },
  async 'stream.seq.whole'({ thread }) {
    const { events } = await thread().run(2)
    const whole = events.map((_, index) => events[0]!.seq + index)
    const seqs = events.map(({ seq }) => seq)
    equal('the seqs', seqs, whole)
  },
  async 'stream.ids.unique'({ thread }) {
    unrepeated((await thread().run(2)).events)
  },
  async 'stream.stays-open'({ thread }) {
    const one = thread()
    const { stream } = await one.finish()
    await one.start()
    const events = await stream.untilEnd(2)
    equal('the states', rootStates(events), ['running', 'completed', 'running', 'completed'])
    equal('the end of the stream', stream.ended(), undefined)
  },
  async 'stream.subscribers'({ thread }) {
    const one = thread()
    const [first, second] = [await one.stream(), await one.stream()]
    await one.start()
    await agree([first, second])
  },
  async 'stream.heartbeat'({ thread }) {
    const stream = await thread().stream()
    await stream.until('a second comment', () => stream.comments.length > 1)
    equal('the events of an idle stream', stream.events.length, 0)
    equal('the comments that end with a blank line', stream.framedComments, 0)
  },
  async 'replay.equals-live'({ thread }) {
    const one = thread()
    const { events } = await one.run()
    equal('what the late reader got', sentOf(await one.replay()), sentOf(events))
  },
  async 'replay.midway'({ thread, agents }) {
    const one = thread(agents.slow)
    const first = await one.begin()
    await first.until('some events', (events) => events.length > 2)
    await agree([first, await one.stream()], 1, idsOf)
  },
  async 'replay.past-endings'({ thread }) {
    const one = thread()
    await one.run(2)
    const late = await one.stream()
    const events = await late.untilEnd()
    equal('the states', rootStates(events), ['running', 'completed'])
    await one.start()
    const all = await late.untilEnd(2)
    equal('the states', rootStates(all), ['running', 'completed', 'running', 'completed'])
  },
  async 'replay.since'({ thread }) {
    const one = thread()
    const { events } = await one.run(2)
    await resumes(events, ({ seq }) => one.stream({ since: seq }))
  },
  async 'replay.since.live'({ thread }) {
    const one = thread()
    const { events, stream } = await one.run()
    const cursor = await one.stream({ since: events.at(-1)!.seq })
    await one.start()
    const seen = await cursor.untilEnd()
    const all = await stream.untilEnd(2)
    equal('the events', sentOf(seen), sentOf(all.slice(events.length)))
  },
  async 'replay.last-event-id'({ thread }) {
    const one = thread()
    const { events } = await one.run(2)
    await resumes(events, ({ event_id }) => one.stream({}, { headers: { 'last-event-id': event_id } }))
  },
  async 'replay.unknown-id'({ thread }) {
    const one = thread()
    const { events } = await one.run()
    const stream = await one.stream({}, { headers: { 'last-event-id': 'no-such-event' } })
    equal('the events', idsOf(await stream.untilEnd()), idsOf(events))
  },
  async 'replay.values'({ thread }) {
    const one = thread()
    const { state } = await one.finish(2)
    const late = await (await one.stream({ channels: ['values', 'lifecycle'] })).untilEnd()
    equal('the last values', dataOf(late.filter(isAtRoot), 'values').at(-1), at(state, 'values'))
  },
}

export const streamRules = /* @__PURE__ */ rulesOf(RULES, checks)
