import { equal, hold } from '../../check.ts'
import type { AuditContext, AuditThread } from '../context.ts'
import { at, dataOf, hasEnded, isRoot, listOf } from '../events.ts'
import { protocol, REACT, rules, SCHEMA } from '../rule.ts'
import { haveShape } from '../shapes.ts'
import { readMessages, readToolCalls } from '../transcript.ts'

const { must, should } = rules({ source: SCHEMA })

/** How the CDDL of the protocol spells what its published bindings, clients and servers spell in snake_case. */
const CAMEL =
  /"(eventId|assistantId|runId|threadId|interruptId|toolCallId|toolName|graphName|parentId|appliedThroughSeq|inputTokens|outputTokens)":/

export const eventRules = [
  must(
    'events.snake-case',
    'The wire is snake_case',
    async (audit) => {
      const { agents, thread } = audit
      for (const agent of [audit.assistantId, agents.tools, agents.interrupt, agents.nested]) {
        if (agent === undefined && agent !== audit.assistantId) continue
        const { stream } = await thread(agent).run()
        const camel = stream.frames.map(({ data }) => CAMEL.exec(data)?.[1]).filter(Boolean)
        equal(`the camelCase keys in events of ${agent ?? 'the assistant'}`, camel, [])
      }
    },
    { source: 'https://github.com/langchain-ai/agent-protocol/blob/main/streaming/js/protocol.ts' },
  ),
  ...(['lifecycle', 'values', 'messages'] as const).map((channel) =>
    must(
      `events.${channel}`,
      `Events of ${channel} have the shape of the protocol`,
      async ({ thread }) => haveShape((await thread().run()).events, channel),
      { source: protocol(channel) },
    ),
  ),
  ...(['updates', 'checkpoints', 'tasks'] as const).map((channel) =>
    should(
      `events.${channel}`,
      `Events of ${channel} have the shape of the protocol`,
      async ({ thread }) => haveShape((await thread().run()).events, channel),
      { source: protocol(channel) },
    ),
  ),
  must(
    'events.tools',
    'Events of tools have the shape of the protocol',
    async ({ thread, agents }) => haveShape((await thread(agents.tools).run()).events, 'tools'),
    { source: protocol('tools'), needs: 'tools' },
  ),
  must(
    'events.custom',
    'Events of custom have the shape of the protocol',
    async ({ thread, agents }) => haveShape((await thread(agents.custom).run()).events, 'custom'),
    { source: protocol('custom-and-custom'), needs: 'custom' },
  ),
  must(
    'events.input',
    'input.requested has the shape of the protocol',
    async ({ thread, agents }) => haveShape((await thread(agents.interrupt).run()).events, 'input.requested'),
    { source: protocol('input'), needs: 'interrupt' },
  ),
  must(
    'events.values.follow-checkpoints',
    'Values of the root come right after their checkpoint',
    async ({ thread }) => {
      const { events } = await thread().run()
      const root = events.filter(({ namespace }) => namespace.length === 0)
      const before = root.flatMap(({ method }, index) =>
        method === 'values' ? [root[index - 1]?.method] : [],
      )
      equal(
        'the events before values',
        before,
        before.map(() => 'checkpoints'),
      )
    },
    { source: protocol('checkpoints') },
  ),
  must(
    'events.values.final',
    'The last values of a run have the messages of the state',
    async ({ thread }) => {
      const one = thread()
      const { events } = await one.run()
      const told = dataOf(
        events.filter(({ namespace }) => namespace.length === 0),
        'values',
      ).at(-1)
      equal('the ids of the messages', messageIds(told), messageIds(at(await one.idle(), 'values')))
    },
    { source: protocol('values') },
  ),
]

export const messageRules = [
  must(
    'messages.whole',
    'Messages and their blocks start and end once, in order',
    async ({ thread }) => {
      readMessages((await thread().run()).events)
    },
    { source: protocol('messages') },
  ),
  ...(['tools', 'nested'] as const).map((needs) =>
    must(
      `messages.whole.${needs}`,
      `Messages and their blocks start and end once where there are ${needs === 'tools' ? 'tools' : 'subagents'}, too`,
      async ({ thread, agents }) => {
        readMessages((await thread(agents[needs]).run()).events)
      },
      { source: protocol('messages'), needs },
    ),
  ),
  must(
    'messages.text',
    'The deltas of a text add up to its end',
    async (audit) => {
      const { told } = await answered(audit)
      for (const { id, streamed, finished } of told) equal(`the text of ${id}`, streamed, finished)
    },
    { source: protocol('messages') },
  ),
  must(
    'messages.in-state',
    'A streamed message is in the state under its id',
    async (audit) => {
      const { told, one } = await answered(audit)
      const ids = messageIds(at(await one.idle(), 'values'))
      for (const { id } of told) hold('the messages of the state', ids.includes(id), id, ids)
    },
    { source: REACT },
  ),
  must(
    'messages.flat',
    'Messages of the state are flat, with type, content and id',
    async (audit) => {
      const { one } = await answered(audit)
      const messages = listOf(at(await one.idle(), 'values', 'messages'))
      for (const message of messages) {
        const { type, content, id } = message as Readonly<Record<string, unknown>>
        const flat =
          ['human', 'ai', 'system', 'tool'].includes(String(type)) &&
          content !== undefined &&
          typeof id === 'string'
        hold('a message of the state', flat, 'type, content and id', message)
      }
    },
    { source: REACT },
  ),
  must(
    'tools.whole',
    'Tool calls start and end once',
    async ({ thread, agents }) => {
      const ids = readToolCalls((await thread(agents.tools).run()).events)
      hold('the tool calls', ids.length > 0, 'at least one', ids)
    },
    { source: protocol('tools'), needs: 'tools' },
  ),
  must(
    'tools.in-state',
    'The result of a tool call is in the state under its id',
    async ({ thread, agents }) => {
      const one = thread(agents.tools)
      const ids = readToolCalls((await one.run()).events)
      const messages = listOf(at(await one.idle(), 'values', 'messages'))
      const answered = messages.map((message) => at(message, 'tool_call_id')).filter(Boolean)
      equal('the tool calls of the state', answered, ids)
    },
    { source: protocol('tools'), needs: 'tools' },
  ),
  should(
    'namespaces.lifecycle',
    'A namespace starts before its other events, and ends before its run does',
    async ({ thread, agents }) => {
      const { events } = await thread(agents.nested).run()
      const inner = events.filter(({ namespace }) => namespace.length > 0)
      hold('the namespaces', inner.length > 0, 'events below the root', 'none')
      for (const place of new Set(inner.map(({ namespace }) => namespace.join('|')))) {
        const own = inner.filter(({ namespace }) => namespace.join('|') === place)
        const states = own.filter(({ method }) => method === 'lifecycle').map(({ data }) => at(data, 'event'))
        equal(`the states of ${place}`, states, ['started', 'completed'])
        equal(`the first event of ${place}`, own[0]!.method, 'lifecycle')
      }
      hold('the last event', isRoot(events.at(-1)!), 'the end of the run', events.at(-1)?.sent)
    },
    { source: protocol('lifecycle'), needs: 'nested' },
  ),
]

async function answered({ thread }: AuditContext) {
  const one: AuditThread = thread()
  const { stream } = await one.run()
  const told = readMessages(await stream.until('the end of the run', hasEnded(1)))
  hold('the messages of the run', told.length > 0, 'at least one', 'none')
  return { one, told }
}

const messageIds = (values: unknown): unknown[] =>
  listOf(at(values, 'messages')).map((message) => at(message, 'id'))
