import { equal, hold } from '../../check.ts'
import type { AuditThread, Transcript } from '../context.ts'
import { ALL, at, dataOf, hasEnded, idsOf, matches, type StreamFilter } from '../events.ts'
import { protocol, rules, SCHEMA, STREAM_CLIENT } from '../rule.ts'

const { must, should } = rules({ source: protocol('channels') })

const INVALID = [
  {},
  { channels: 'values' },
  { channels: [7] },
  { channels: ['values'], namespaces: 'tools' },
  { channels: ['values'], namespaces: [[7]] },
  { channels: ['values'], depth: -1 },
  { channels: ['values'], since: '3' },
]

export const filterRules = [
  must(
    'filter.channels',
    'A reader gets the events of the channels it asks for, and no others',
    async ({ thread }) => {
      const one = thread()
      const transcript = await one.run()
      for (const channel of ALL) await gets(one, transcript, { channels: [channel, 'lifecycle'] })
    },
  ),
  must(
    'filter.input',
    'The channel of input.requested is input',
    async ({ thread, agents }) => {
      const one = thread(agents.interrupt)
      const transcript = await one.run()
      hold('input.requested', dataOf(transcript.events, 'input.requested').length > 0, 'one event', 'none')
      await gets(one, transcript, { channels: ['input', 'lifecycle'] })
      await gets(one, transcript, { channels: ['input.requested', 'lifecycle'] })
    },
    { needs: 'interrupt' },
  ),
  must(
    'filter.custom',
    'custom has all custom events, custom:<name> those of that name',
    async ({ thread, agents }) => {
      const one = thread(agents.custom)
      const transcript = await one.run()
      const names = dataOf(transcript.events, 'custom').map((data) => at(data, 'name'))
      hold(
        'the custom events',
        names.some((name) => typeof name === 'string'),
        'one with a name',
        names,
      )
      for (const channel of [
        'custom',
        'custom:no-such-name',
        ...names.filter(Boolean).map((name) => `custom:${name}`),
      ])
        await gets(one, transcript, { channels: [channel, 'lifecycle'] })
    },
    { needs: 'custom' },
  ),
  should(
    'filter.unknown',
    'A channel and a key that nobody knows are ignored',
    async ({ thread }) => {
      const one = thread()
      const transcript = await one.run()
      await gets(one, transcript, { channels: ['no-such-channel', 'lifecycle'] })
      await gets(one, transcript, { channels: [...ALL], more: 1 } as StreamFilter)
    },
    { source: protocol('extensibility') },
  ),
  must(
    'filter.invalid',
    'A filter of a wrong type is refused with status 400',
    async ({ thread, streamPath }) => {
      for (const body of INVALID) {
        const { status } = await thread().request('POST', streamPath, { body })
        equal(`the status of ${JSON.stringify(body)}`, status, 400)
      }
    },
    { source: SCHEMA },
  ),
  must(
    'filter.namespaces',
    'namespaces are prefixes, whose segments may be names without ids',
    async ({ thread, agents }) => {
      const one = thread(agents.nested)
      const transcript = await one.run()
      for (const prefix of prefixesOf(transcript)) {
        await gets(one, transcript, { channels: ALL, namespaces: [prefix] })
        await gets(one, transcript, {
          channels: ALL,
          namespaces: [prefix.map((segment) => segment.split(':')[0]!)],
        })
      }
      await gets(one, transcript, { channels: ALL, namespaces: [['no-such-namespace'], []] })
    },
    { source: protocol('namespaces'), needs: 'nested' },
  ),
  must(
    'filter.depth',
    'depth counts segments below the prefix, and nothing where there is none',
    async ({ thread, agents }) => {
      const one = thread(agents.nested)
      const transcript = await one.run()
      const deepest = prefixesOf(transcript)[0]!
      hold('the namespaces', deepest.length > 1, 'one of two segments', deepest)
      for (const depth of [0, 1]) {
        await gets(one, transcript, { channels: ALL, namespaces: [[]], depth })
        await gets(one, transcript, { channels: ALL, namespaces: [deepest.slice(0, 1)], depth })
      }
      await gets(one, transcript, { channels: ALL, depth: 0 })
    },
    { source: protocol('namespaces'), needs: 'nested' },
  ),
  must(
    'filter.union',
    'Several namespaces are a union',
    async ({ thread, agents }) => {
      const one = thread(agents.nested)
      const transcript = await one.run()
      const deepest = prefixesOf(transcript)[0]!
      await gets(one, transcript, { channels: ALL, namespaces: [[], deepest], depth: 0 })
    },
    { source: STREAM_CLIENT, needs: 'nested' },
  ),
]

/** The namespaces of a run, the deepest first. */
function prefixesOf({ events }: Transcript): readonly (readonly string[])[] {
  const places = new Map(events.map(({ namespace }) => [namespace.join('|'), namespace]))
  return [...places.values()].sort((a, b) => b.length - a.length)
}

/** Checks that a new reader gets exactly the events of a run that a filter asks for. */
async function gets(one: AuditThread, { events }: Transcript, filter: StreamFilter): Promise<void> {
  const wanted = events.filter((event) => matches(event, filter))
  const stream = await one.stream({ ...filter })
  const words = JSON.stringify(filter)
  const count = wanted.length
  const seen = await stream.until(
    `what ${words} asks for`,
    (some) => some.length >= count || hasEnded(1)(some),
  )
  equal(`what ${words} gets`, idsOf(seen), idsOf(wanted))
  stream.close()
}
