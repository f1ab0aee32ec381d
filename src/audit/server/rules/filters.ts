import { equal, hold } from '../../check.ts'
import type { AuditThread } from '../context.ts'
import { ALL, at, dataOf, hasEnded, idsOf, matches, type StreamFilter, type WireEvent } from '../events.ts'
import { type Checks, protocol, rules, rulesOf, SCHEMA, STREAM_CLIENT } from '../rule.ts'

const CHANNELS = protocol('channels')
const { must, should } = rules(CHANNELS)

const INVALID = [
  {},
  { channels: 'values' },
  { channels: [7] },
  { channels: ['values'], namespaces: 'tools' },
  { channels: ['values'], namespaces: [[7]] },
  { channels: ['values'], depth: -1 },
  { channels: ['values'], since: '3' },
]

const RULES = {
  'filter.channels': must('A subscriber receives only the channels it requests'),
  'filter.input': must('The channel of input.requested is input', CHANNELS, 'interrupt'),
  'filter.custom': must(
    'custom selects all custom events, custom:<name> those with that name',
    CHANNELS,
    'custom',
  ),
  'filter.unknown': should('Unknown channels and keys are ignored', protocol('extensibility')),
  'filter.invalid': must('A filter of the wrong type is rejected with status 400', SCHEMA),
  'filter.namespaces': must(
    'namespaces are prefixes, and a segment may omit its id',
    protocol('namespaces'),
    'nested',
  ),
  'filter.depth': must(
    'depth counts the segments below the prefix, and has no effect without a prefix',
    protocol('namespaces'),
    'nested',
  ),
  'filter.union': must('Several namespaces are a union', STREAM_CLIENT, 'nested'),
}

const checks: Checks<keyof typeof RULES> = {
  async 'filter.channels'({ thread }) {
    const { gets } = await ran(thread())
    for (const channel of ALL) await gets({ channels: [channel, 'lifecycle'] })
  },
  async 'filter.input'({ thread, agents }) {
    const { events, gets } = await ran(thread(agents.interrupt))
    hold('input.requested', dataOf(events, 'input.requested').length > 0, 'one event', 'none')
    await gets({ channels: ['input', 'lifecycle'] })
    await gets({ channels: ['input.requested', 'lifecycle'] })
  },
  async 'filter.custom'({ thread, agents }) {
    const { events, gets } = await ran(thread(agents.custom))
    const names = dataOf(events, 'custom').map((data) => at(data, 'name'))
    const isNamed = names.some((name) => typeof name === 'string')
    hold('the custom events', isNamed, 'one with a name', names)
    const own = names.filter(Boolean).map((name) => `custom:${name}`)
    for (const channel of ['custom', 'custom:no-such-name', ...own])
      await gets({ channels: [channel, 'lifecycle'] })
  },
  async 'filter.unknown'({ thread }) {
    const { gets } = await ran(thread())
    await gets({ channels: ['no-such-channel', 'lifecycle'] })
    await gets({ channels: [...ALL], more: 1 } as StreamFilter)
  },
  async 'filter.invalid'({ thread, streamPath }) {
    for (const body of INVALID) {
      const status = await thread().status('POST', streamPath, { body })
      equal(`the status of ${JSON.stringify(body)}`, status, 400)
    }
  },
  async 'filter.namespaces'({ thread, agents }) {
    const { events, gets } = await ran(thread(agents.nested))
    for (const prefix of prefixesOf(events)) {
      await gets({ channels: ALL, namespaces: [prefix] })
      const names = prefix.map((segment) => segment.split(':')[0]!)
      await gets({ channels: ALL, namespaces: [names] })
    }
    await gets({ channels: ALL, namespaces: [['no-such-namespace'], []] })
  },
  async 'filter.depth'({ thread, agents }) {
    const { events, gets } = await ran(thread(agents.nested))
    const deepest = prefixesOf(events)[0]!
    hold('the namespaces', deepest.length > 1, 'one of two segments', deepest)
    for (const depth of [0, 1]) {
      await gets({ channels: ALL, namespaces: [[]], depth })
      await gets({ channels: ALL, namespaces: [deepest.slice(0, 1)], depth })
    }
    await gets({ channels: ALL, depth: 0 })
  },
  async 'filter.union'({ thread, agents }) {
    const { events, gets } = await ran(thread(agents.nested))
    const deepest = prefixesOf(events)[0]!
    await gets({ channels: ALL, namespaces: [[], deepest], depth: 0 })
  },
}

export const filterRules = /* @__PURE__ */ rulesOf(RULES, checks)

/** The namespaces of a run, deepest first. */
function prefixesOf(events: readonly WireEvent[]): readonly (readonly string[])[] {
  const namespaces = new Map(events.map(({ namespace }) => [namespace.join('|'), namespace]))
  return [...namespaces.values()].sort((a, b) => b.length - a.length)
}

/**
 * Runs the agent. Returns a function that checks that a new subscriber receives exactly the events that match
 * a filter.
 */
async function ran(one: AuditThread) {
  const { events } = await one.run()
  async function gets(filter: StreamFilter): Promise<void> {
    const wanted = events.filter((event) => matches(event, filter))
    const words = JSON.stringify(filter)
    const stream = await one.stream({ ...filter })
    const isOver = (some: readonly WireEvent[]) => some.length >= wanted.length || hasEnded(1)(some)
    const seen = await stream.until(`what ${words} asks for`, isOver)
    equal(`what ${words} gets`, idsOf(seen), idsOf(wanted))
    stream.close()
  }
  return { events, gets }
}
