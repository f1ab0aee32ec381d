import { equal, hold } from '../../check.ts'
import type { AuditContext, AuditedAgents, AuditThread } from '../context.ts'
import { at, dataOf, isAtRoot, isRoot, messageIds, messagesOf } from '../events.ts'
import {
  type Checks,
  isData,
  isFlatMessage,
  protocol,
  REACT,
  rules,
  rulesOf,
  SCHEMA,
  type ServerRule,
  type ShapedMethod,
} from '../rule.ts'
import { readMessages, readToolCalls } from '../transcript.ts'

const { must, should } = rules(SCHEMA)

/** Field names in the protocol's CDDL that bindings, clients and servers spell in snake_case. */
const CAMEL =
  /"(eventId|assistantId|runId|threadId|interruptId|toolCallId|toolName|graphName|parentId|appliedThroughSeq|inputTokens|outputTokens)":/

const RULES = {
  'events.snake-case': must(
    'Field names on the wire are snake_case',
    'https://github.com/langchain-ai/agent-protocol/blob/main/streaming/js/protocol.ts',
  ),
  'events.lifecycle': must("lifecycle events match the protocol's schema", protocol('lifecycle')),
  'events.values': must("values events match the protocol's schema", protocol('values')),
  'events.messages': must("messages events match the protocol's schema", protocol('messages')),
  'events.updates': should("updates events match the protocol's schema", protocol('updates')),
  'events.checkpoints': should("checkpoints events match the protocol's schema", protocol('checkpoints')),
  'events.tasks': should("tasks events match the protocol's schema", protocol('tasks')),
  'events.tools': must("tools events match the protocol's schema", protocol('tools'), 'tools'),
  'events.custom': must("custom events match the protocol's schema", protocol('custom-and-custom'), 'custom'),
  'events.input': must("input.requested events match the protocol's schema", protocol('input'), 'interrupt'),
  'events.values.follow-checkpoints': must(
    'A root values event immediately follows its checkpoint',
    protocol('checkpoints'),
  ),
  'events.values.final': must(
    'The last values event of a run has the messages of the state',
    protocol('values'),
  ),
  'messages.whole': must('Messages and their blocks start and end once, in order', protocol('messages')),
  'messages.whole.tools': must(
    'Messages and their blocks start and end once in a run with tools',
    protocol('messages'),
    'tools',
  ),
  'messages.whole.nested': must(
    'Messages and their blocks start and end once in a run with subagents',
    protocol('messages'),
    'nested',
  ),
  'messages.text': must('The text deltas of a block add up to its final text', protocol('messages')),
  'messages.in-state': must('A streamed message is in the state with the same id', REACT),
  'messages.flat': must('Messages in the state are flat, with type, content and id', REACT),
  'tools.whole': must('Tool calls start and end once', protocol('tools'), 'tools'),
  'tools.in-state': must(
    'The result of a tool call is in the state with the same id',
    protocol('tools'),
    'tools',
  ),
  'namespaces.lifecycle': should(
    'A namespace starts before its other events, and ends before its run does',
    protocol('lifecycle'),
    'nested',
  ),
}

const checks: Checks<keyof typeof RULES> = {
  async 'events.snake-case'(audit) {
    const { agents, thread } = audit
    for (const agent of [audit.assistantId, agents.tools, agents.interrupt, agents.nested]) {
      if (agent === undefined && agent !== audit.assistantId) continue
      const { stream } = await thread(agent).run()
      const camel = stream.frames.map(({ data }) => CAMEL.exec(data)?.[1]).filter(Boolean)
      equal(`the camelCase keys in events of ${agent ?? 'the assistant'}`, camel, [])
    }
  },
  'events.lifecycle': haveShape('lifecycle'),
  'events.values': haveShape('values'),
  'events.messages': haveShape('messages'),
  'events.updates': haveShape('updates'),
  'events.checkpoints': haveShape('checkpoints'),
  'events.tasks': haveShape('tasks'),
  'events.tools': haveShape('tools', 'tools'),
  'events.custom': haveShape('custom', 'custom'),
  'events.input': haveShape('input.requested', 'interrupt'),
  async 'events.values.follow-checkpoints'({ thread }) {
    const { events } = await thread().run()
    const methods = events.filter(isAtRoot).map(({ method }) => method)
    const before = methods.filter((_, index) => methods[index + 1] === 'values')
    const wanted = methods.filter((method) => method === 'values').map(() => 'checkpoints')
    equal('the events before values', before, wanted)
  },
  async 'events.values.final'({ thread }) {
    const { events, state } = await thread().finish()
    const told = dataOf(events.filter(isAtRoot), 'values').at(-1)
    equal('the ids of the messages', messageIds(told), messageIds(at(state, 'values')))
  },
  'messages.whole': ({ thread }) => areWhole(thread()),
  'messages.whole.tools': ({ thread, agents }) => areWhole(thread(agents.tools)),
  'messages.whole.nested': ({ thread, agents }) => areWhole(thread(agents.nested)),
  async 'messages.text'(audit) {
    const { told } = await answered(audit)
    for (const { id, streamed, finished } of told) equal(`the text of ${id}`, streamed, finished)
  },
  async 'messages.in-state'(audit) {
    const { told, values } = await answered(audit)
    const ids = messageIds(values)
    for (const { id } of told) hold('the messages of the state', ids.includes(id), id, ids)
  },
  async 'messages.flat'(audit) {
    const { values } = await answered(audit)
    for (const message of messagesOf(values)) await isFlatMessage(message)
  },
  async 'tools.whole'({ thread, agents }) {
    const ids = readToolCalls((await thread(agents.tools).run()).events)
    hold('the tool calls', ids.length > 0, 'at least one', ids)
  },
  async 'tools.in-state'({ thread, agents }) {
    const { events, state } = await thread(agents.tools).finish()
    const messages = messagesOf(at(state, 'values'))
    const answered = messages.map((message) => at(message, 'tool_call_id')).filter(Boolean)
    equal('the tool calls of the state', answered, readToolCalls(events))
  },
  async 'namespaces.lifecycle'({ thread, agents }) {
    const { events } = await thread(agents.nested).run()
    const inner = events.filter((event) => !isAtRoot(event))
    hold('the namespaces', inner.length > 0, 'events below the root', 'none')
    for (const path of new Set(inner.map(({ namespace }) => namespace.join('|')))) {
      const own = inner.filter(({ namespace }) => namespace.join('|') === path)
      const states = dataOf(own, 'lifecycle').map((data) => at(data, 'event'))
      equal(`the states of ${path}`, states, ['started', 'completed'])
      equal(`the first event of ${path}`, own[0]!.method, 'lifecycle')
    }
    hold('the last event', isRoot(events.at(-1)!), 'the end of the run', events.at(-1)?.sent)
  },
}

export const eventRules = /* @__PURE__ */ rulesOf(RULES, checks)

async function areWhole(one: AuditThread): Promise<void> {
  readMessages((await one.run()).events)
}

/** The streamed messages of a run, and the values of the state. */
async function answered({ thread }: AuditContext) {
  const { events, state } = await thread().finish()
  const told = readMessages(events)
  hold('the messages of the run', told.length > 0, 'at least one', 'none')
  return { told, values: at(state, 'values') }
}

/** Checks the shape of a method's events. The assistant's run must send at least one. */
function haveShape(method: ShapedMethod, agent?: keyof AuditedAgents): ServerRule['check'] {
  return async ({ thread, agents }) => {
    const { events } = await thread(agent && agents[agent]).run()
    const own = dataOf(events, method)
    hold(`the ${method} events of the run`, own.length > 0, 'at least one', 'none')
    for (const data of own) await isData(method, data)
  }
}
