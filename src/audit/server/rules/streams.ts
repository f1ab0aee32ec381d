import { equal, hold } from '../../check.ts'
import { at, hasEnded, idsOf, rootStates, sentOf } from '../events.ts'
import { protocol, REACT, rules, SCHEMA, SSE, STREAM_CLIENT } from '../rule.ts'
import { isEnvelope } from '../shapes.ts'

const { must, should } = rules({ source: protocol('ssehttp') })

export const streamRules = [
  must('stream.path', 'POST /threads/{id}/stream is an event stream', async ({ thread }) => {
    await thread().stream({}, { path: '/stream' })
  }),
  should(
    'stream.path.events',
    'POST /threads/{id}/stream/events is the same event stream',
    async ({ thread }) => {
      await thread().stream({}, { path: '/stream/events' })
    },
    { source: STREAM_CLIENT },
  ),
  should(
    'stream.headers',
    'A stream forbids caching, transforming and buffering on its way',
    async ({ thread }) => {
      const { headers } = (await thread().stream()).response
      const control = headers.get('cache-control') ?? ''
      hold(
        'cache-control',
        /no-cache|no-store/.test(control) && /no-transform/.test(control),
        'no-cache, no-transform',
        control,
      )
      equal('x-accel-buffering', headers.get('x-accel-buffering'), 'no')
    },
    { source: `${SSE}#authoring-notes` },
  ),
  must(
    'stream.before-thread',
    'A stream may be opened before its thread exists, and gets all events of the first run',
    async ({ thread }) => {
      const one = thread()
      const early = await one.stream()
      await one.start()
      const events = await early.until('the end of the run', hasEnded(1))
      const late = await one.stream()
      equal('the events', idsOf(events), idsOf(await late.until('the end of the run', hasEnded(1))))
      equal('the states', rootStates(events), ['running', 'completed'])
    },
    { source: SCHEMA },
  ),
  must(
    'stream.envelope',
    'Each event has type, event_id, seq, method, and params with namespace, timestamp and data',
    async ({ thread }) => {
      const { stream } = await thread().run()
      for (const { data } of stream.frames) isEnvelope(JSON.parse(data))
    },
    { source: protocol('top-level-framing') },
  ),
  should(
    'stream.frames',
    'The id of a frame is the event_id of its event',
    async ({ thread }) => {
      const { stream, events } = await thread().run()
      equal(
        'the ids of the frames',
        stream.frames.slice(0, events.length).map(({ id }) => id),
        idsOf(events),
      )
    },
    { source: protocol('top-level-framing') },
  ),
  must(
    'stream.seq.rises',
    'seq rises from event to event, across the runs of a thread',
    async ({ thread }) => {
      const { events } = await thread().run(2)
      for (const [index, { seq }] of events.slice(1).entries())
        hold('seq', seq > events[index]!.seq, `more than ${events[index]!.seq}`, seq)
    },
    { source: protocol('replay-and-reconnection') },
  ),
  should(
    'stream.seq.whole',
    'seq has no holes for a reader of all channels',
    async ({ thread }) => {
      const { events } = await thread().run(2)
      const first = events[0]!.seq
      equal(
        'the seqs',
        events.map(({ seq }) => seq),
        events.map((_, index) => first + index),
      )
    },
    { source: protocol('replay-and-reconnection') },
  ),
  must(
    'stream.ids.unique',
    'No two events of a thread have the same event_id, across its runs',
    async ({ thread }) => {
      const ids = idsOf((await thread().run(2)).events)
      equal(
        'the repeated ids',
        ids.filter((id, index) => ids.indexOf(id) !== index),
        [],
      )
    },
    { source: STREAM_CLIENT },
  ),
  must(
    'stream.stays-open',
    'A stream does not end with a run, and carries the next one',
    async ({ thread }) => {
      const one = thread()
      const { stream } = await one.run()
      await one.idle()
      await one.start()
      const events = await stream.until('the end of the second run', hasEnded(2))
      equal('the states', rootStates(events), ['running', 'completed', 'running', 'completed'])
      equal('the end of the stream', stream.ended(), undefined)
    },
    { source: STREAM_CLIENT },
  ),
  must(
    'stream.subscribers',
    'Two readers of a thread see the same events in the same order',
    async ({ thread }) => {
      const one = thread()
      const readers = [await one.stream(), await one.stream()]
      await one.start()
      const seen = await Promise.all(readers.map((reader) => reader.until('the end of the run', hasEnded(1))))
      equal('what the second reader saw', sentOf(seen[1]!), sentOf(seen[0]!))
    },
    { source: SCHEMA },
  ),
  should(
    'stream.heartbeat',
    'An idle stream keeps saying that it lives, by comments',
    async ({ thread }) => {
      const stream = await thread().stream()
      await stream.until('a second comment', () => stream.comments.length > 1)
      equal('the events of an idle stream', stream.events.length, 0)
    },
    { source: `${SSE}#authoring-notes` },
  ),
]

const replay = rules({ source: protocol('replay-and-reconnection') })

export const replayRules = [
  replay.must(
    'replay.equals-live',
    'A late reader of a run gets what a live one got, with the same ids',
    async ({ thread }) => {
      const one = thread()
      const { events } = await one.run()
      const late = await (await one.stream()).until('the end of the run', hasEnded(1))
      equal('what the late reader got', sentOf(late), sentOf(events))
    },
  ),
  replay.must(
    'replay.midway',
    'A reader that comes in the middle of a run gets its beginning, then the rest',
    async ({ thread, agents }) => {
      const one = thread(agents.slow)
      await one.start()
      const first = await one.stream()
      await first.until('some events', (events) => events.length > 2)
      const second = await one.stream()
      const seen = await Promise.all(
        [first, second].map((reader) => reader.until('the end of the run', hasEnded(1))),
      )
      equal('the events of the second reader', idsOf(seen[1]!), idsOf(seen[0]!))
    },
    { needs: 'slow' },
  ),
  replay.must(
    'replay.past-endings',
    'A new reader is not told how earlier runs stood: it would take their end for its own',
    async ({ thread }) => {
      const one = thread()
      await one.run(2)
      const late = await one.stream()
      const events = await late.until('the end of the newest run', hasEnded(1))
      equal('the states', rootStates(events), ['running', 'completed'])
      await one.start()
      const all = await late.until('the end of the next run', hasEnded(2))
      equal('the states', rootStates(all), ['running', 'completed', 'running', 'completed'])
    },
    { source: REACT },
  ),
  replay.must('replay.since', 'since gives exactly the later events, of all runs', async ({ thread }) => {
    const one = thread()
    const { events } = await one.run(2)
    for (const index of positions(events.length)) {
      const rest = events.slice(index + 1)
      const stream = await one.stream({ since: events[index]!.seq })
      const seen = await stream.until(
        `the events after ${events[index]!.seq}`,
        (some) => some.length >= rest.length,
      )
      equal(`the events after ${events[index]!.seq}`, sentOf(seen), sentOf(rest))
      stream.close()
    }
  }),
  replay.must(
    'replay.since.live',
    'since at the last event gives nothing of the past, and all that comes',
    async ({ thread }) => {
      const one = thread()
      const { events, stream } = await one.run()
      const cursor = await one.stream({ since: events.at(-1)!.seq })
      await one.start()
      const seen = await cursor.until('the end of the next run', hasEnded(1))
      const all = await stream.until('the end of the next run', hasEnded(2))
      equal('the events', sentOf(seen), sentOf(all.slice(events.length)))
    },
  ),
  replay.should(
    'replay.last-event-id',
    'Last-Event-ID resumes exactly after that event',
    async ({ thread }) => {
      const one = thread()
      const { events } = await one.run(2)
      for (const index of positions(events.length)) {
        const { event_id } = events[index]!
        const rest = events.slice(index + 1)
        const stream = await one.stream({}, { headers: { 'last-event-id': event_id } })
        const seen = await stream.until(`the events after ${event_id}`, (some) => some.length >= rest.length)
        equal(`the events after ${event_id}`, sentOf(seen), sentOf(rest))
        stream.close()
      }
    },
    { source: `${SSE}#the-last-event-id-header` },
  ),
  replay.should(
    'replay.unknown-id',
    'An event id that nobody knows gives what a new reader gets',
    async ({ thread }) => {
      const one = thread()
      const { events } = await one.run()
      const stream = await one.stream({}, { headers: { 'last-event-id': 'no-such-event' } })
      equal('the events', idsOf(await stream.until('the end of the run', hasEnded(1))), idsOf(events))
    },
    { source: STREAM_CLIENT },
  ),
  replay.should(
    'replay.values',
    'The last state that a reader is told is the state of the thread',
    async ({ thread }) => {
      const one = thread()
      await one.run(2)
      const values = at(await one.idle(), 'values')
      const late = await (await one.stream({ channels: ['values', 'lifecycle'] })).until(
        'the newest run',
        hasEnded(1),
      )
      const told = late
        .filter(({ method, namespace }) => method === 'values' && namespace.length === 0)
        .at(-1)
      equal('the last values', told?.data, values)
    },
    { source: protocol('values') },
  ),
]

/** The first, the middle and the last event that has one after it. */
const positions = (count: number): readonly number[] => [...new Set([0, count >> 1, count - 2])]
