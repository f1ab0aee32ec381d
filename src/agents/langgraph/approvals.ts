import { type Fields, isRecord } from '../../messages/record.ts'
import type { AgentEvent } from '../../messages/thread-events/index.ts'
import type { Agent, AgentTask, SnapshotTask, StateSnapshot } from '../agent.ts'

/** The fields of a `humanInTheLoopMiddleware` question, with the names of LangChain's Python middleware. */
const SNAKE_CASE: Readonly<Record<string, string>> = {
  actionRequests: 'action_requests',
  reviewConfigs: 'review_configs',
  actionName: 'action_name',
  allowedDecisions: 'allowed_decisions',
  argsSchema: 'args_schema',
}

/**
 * The agent with approvals in both naming styles: requests of `humanInTheLoopMiddleware` have the names of
 * LangChain's Python in addition to their own, and answers may use either. Pages written for Python agents
 * only read the Python names.
 */
export function withSnakeCaseApprovals(agent: Agent): Agent {
  return {
    ...agent,
    async *stream(task) {
      const { start } = task
      const given =
        start.kind === 'resume' ? { ...start, answers: await answersOf(agent, task, start.answers) } : start
      for await (const event of agent.stream({ ...task, start: given })) yield spelledEvent(event)
    },
    async getState(at, options) {
      const snapshot = await agent.getState(at, options)
      return snapshot && spelledSnapshot(snapshot)
    },
    async *getHistory(at, options) {
      for await (const snapshot of agent.getHistory(at, options)) yield spelledSnapshot(snapshot)
    },
  }
}

const isApproval = (value: unknown): value is Fields => isRecord(value) && Array.isArray(value.actionRequests)

/** A question with both names for each field, and as the first Agent Inbox knows it. Other values are not changed. */
function spelled(value: unknown): unknown {
  if (!isApproval(value)) return value
  const { reviewConfigs } = value
  return bothNames({
    ...value,
    ...firstInboxQuestion(value),
    ...(Array.isArray(reviewConfigs) && {
      reviewConfigs: reviewConfigs.map((one) => (isRecord(one) ? bothNames(one) : one)),
    }),
  })
}

function bothNames(fields: Fields): Record<string, unknown> {
  const others = Object.entries(SNAKE_CASE).filter(([name, other]) => name in fields && !(other in fields))
  return { ...fields, ...Object.fromEntries(others.map(([name, other]) => [other, fields[name]])) }
}

/**
 * A question about one call in the first format of the Agent Inbox, the only one that agent-chat-ui as published
 * on npm answers. The format cannot ask about several calls.
 */
function firstInboxQuestion({ actionRequests, reviewConfigs }: Fields): Fields {
  const [request, ...others] = actionRequests as readonly unknown[]
  if (!isRecord(request) || others.length > 0) return {}
  const { name, args, description } = request
  const { allowedDecisions } = Object(Object(reviewConfigs)[0]) as Fields
  const allows = (type: string): boolean => Array.isArray(allowedDecisions) && allowedDecisions.includes(type)
  return {
    action_request: { action: name, args },
    config: {
      allow_accept: allows('approve'),
      allow_edit: allows('edit'),
      allow_respond: allows('reject'),
      allow_ignore: allows('reject'),
    },
    ...(description !== undefined && { description }),
  }
}

type Answers = Fields

async function answersOf(agent: Agent, task: AgentTask, answers: Answers): Promise<Answers> {
  const hasList = Object.values(answers).some(isResponseList)
  const asked = hasList ? await approvalsOf(agent, task) : new Set<string>()
  return Object.fromEntries(
    Object.entries(answers).map(([id, answer]) => {
      const decisions = asked.has(id) && isResponseList(answer) ? answer : Object(answer).decisions
      return [
        id,
        Array.isArray(decisions) ? { ...Object(answer), decisions: decisions.map(decisionOf) } : answer,
      ]
    }),
  )
}

/** The Agent Inbox answers with a list. Only the question shows whether it is for the middleware. */
async function approvalsOf(agent: Agent, task: AgentTask): Promise<ReadonlySet<string>> {
  const snapshot = await agent.getState({ ...task, config: undefined })
  const interrupts = snapshot?.tasks.flatMap((one) => one.interrupts) ?? []
  return new Set(interrupts.filter(({ value }) => isApproval(value)).map(({ id }) => id))
}

/** The types of the Agent Inbox, with the middleware's names. */
const TYPES: Readonly<Record<string, string>> = { accept: 'approve', response: 'reject', ignore: 'reject' }

const isResponseList = (answer: unknown): answer is readonly unknown[] =>
  Array.isArray(answer) &&
  answer.length > 0 &&
  answer.every((one) => isRecord(one) && (one.type === 'edit' || String(one.type) in TYPES))

/**
 * A decision in the format of LangChain's middleware, the Python middleware, or the Agent Inbox, which only
 * has `args`.
 */
function decisionOf(decision: unknown): unknown {
  if (!isRecord(decision)) return decision
  const { type, message, args, edited_action, editedAction = edited_action } = decision
  const { action, args: editedArgs } = Object(args) as Fields
  switch (TYPES[type as string] ?? type) {
    case 'approve':
      return { type: 'approve' }
    case 'edit':
      return { type, editedAction: editedAction ?? { name: action, args: editedArgs } }
    case 'reject': {
      const reason = message ?? (typeof args === 'string' ? args : undefined)
      return { type: 'reject', ...(reason !== undefined && { message: reason }) }
    }
    default:
      return decision
  }
}

const spelledSnapshot = (snapshot: StateSnapshot): StateSnapshot => ({
  ...snapshot,
  tasks: snapshot.tasks.map(
    (task): SnapshotTask => ({
      ...task,
      interrupts: task.interrupts.map((one) => ({ ...one, value: spelled(one.value) })),
      state: task.state && spelledSnapshot(task.state),
    }),
  ),
})

/** An event with both names for fields of interrupts. */
function spelledEvent(event: AgentEvent): AgentEvent {
  switch (event.method) {
    case 'input.requested': {
      const value = spelled(event.data.value)
      return { ...event, data: { ...event.data, payload: value, value } }
    }
    case 'tasks':
      return { ...event, data: withInterrupts(event.data) }
    case 'chunks': {
      const { mode, data } = event.data
      return { ...event, data: { mode, data: spelledChunk(mode, data) } }
    }
    default:
      return event
  }
}

/**
 * A chunk of LangGraph's stream: the interrupts themselves, or a checkpoint with tasks that wait at
 * interrupts.
 */
function spelledChunk(mode: unknown, data: unknown): unknown {
  if (mode === 'interrupt') return spelledInterrupts(data)
  if (mode !== 'debug' || !isRecord(data) || !isRecord(data.payload)) return data
  const { tasks } = data.payload
  if (!Array.isArray(tasks)) return { ...data, payload: withInterrupts(data.payload) }
  return { ...data, payload: { ...data.payload, tasks: tasks.map(withInterrupts) } }
}

const withInterrupts = <T>(owner: T): T =>
  isRecord(owner) && Array.isArray(owner.interrupts)
    ? { ...owner, interrupts: spelledInterrupts(owner.interrupts) }
    : owner

const spelledInterrupts = (interrupts: unknown): unknown =>
  Array.isArray(interrupts)
    ? interrupts.map((one) => (isRecord(one) ? { ...one, value: spelled(one.value) } : one))
    : interrupts
