import { A2AError } from '../errors.ts'
import type { A2AMessage, SendRequest, StreamEntry, StreamItem } from '../model.ts'
import { inputOf } from '../parts.ts'
import { followTask } from '../tasks/follow.ts'
import { taskIdOf } from '../tasks/ids.ts'
import { answerIdOf, type FoundTask, statusOf, type TaskViewOptions } from '../tasks/present.ts'
import { agentOf, beginRun, type Followed, type StartedRun } from './begin.ts'
import { present } from './find.ts'
import type { A2ACall, Sent } from './operations.ts'
import { checkPush, pushOptionsOf, savePush } from './push.ts'

/**
 * Sends a message, and waits for the task to end or ask unless the client asked not to. If the agent answers
 * with a message, there is no task that could be requested later, so the sender always waits.
 */
export async function send(asked: A2ACall, request: SendRequest): Promise<Sent> {
  const { blocking } = request
  const shown = shownOf(request)
  const answer = await answerOf(asked, request)
  const begun = await begin(asked, request)
  const { call } = begun
  if (!blocking && answer === 'task') return { task: await present(call, begun.found, shown) }
  const found = await settled(begun)
  return answer === 'message' && found.record.state === 'completed'
    ? { message: await messageOf(call, found) }
    : { task: await present(call, found, shown) }
}

/** Sends a message, and returns the task, then its changes until it ends or asks. */
export async function* stream(
  asked: A2ACall,
  request: SendRequest,
): AsyncGenerator<readonly StreamEntry[], void, undefined> {
  const { message, historyLength } = request
  const shown = shownOf(request)
  const answer = await answerOf(asked, request)
  const begun = await begin(asked, request)
  const { call } = begun
  if (answer === 'message') {
    // Opens the response, which sends heartbeats while the agent works.
    yield []
    const found = await settled(begun)
    const item: StreamItem =
      found.record.state === 'completed'
        ? { type: 'message', message: await messageOf(call, found) }
        : { type: 'task', task: await present(call, found, shown) }
    yield [{ item }]
    return
  }
  const { found } = begun
  const { contextId, record } = found
  const taskId = taskIdOf(contextId, record.taskId)
  const history = historyLength === 0 ? {} : { history: [{ ...message, contextId, taskId }] }
  // The state before the run began. Its log events follow.
  const status = statusOf({ ...found, record: { ...record, state: 'submitted', error: null } }, [])
  yield [{ item: { type: 'task', task: { id: taskId, contextId, status, ...history } } }]
  yield* follow(call, begun)
}

/** The parts of a task that its client requested. */
export const shownOf = ({
  historyLength,
  historyScope,
}: Pick<TaskViewOptions, 'historyLength' | 'historyScope'>): TaskViewOptions => ({
  historyLength,
  historyScope,
})

/** The changes of a task. */
export const follow = (
  call: A2ACall,
  { found: { contextId }, answer }: Followed,
  seen?: number,
): AsyncGenerator<readonly StreamEntry[], void, undefined> =>
  followTask({
    contextId,
    answer,
    seen,
    form: call.context.options.stream ?? 'artifacts',
    present: (found) => present(call, found, { historyLength: 0 }),
  })

/** Starts the run, with the webhook for its changes. */
async function begin(call: A2ACall, request: SendRequest): Promise<StartedRun> {
  const { push } = request
  if (push) checkPush(push, pushOptionsOf(call))
  const begun = await beginRun(call, request)
  if (push) await savePush(call, begun.found, push)
  return begun
}

const answerOf = async (call: A2ACall, { message }: SendRequest): Promise<'task' | 'message'> => {
  const { principal, request } = call.call
  const threadId = message.contextId ?? ''
  const agent = agentOf(call)
  const input = inputOf(message, agent)
  return (await agent.answersWith?.({ threadId, principal, request, input })) ?? 'task'
}

/** Waits until the task has ended or asks, on any instance. */
export async function settled({ found: { contextId }, answer }: Followed): Promise<FoundTask> {
  await answer.ended()
  return { contextId, ...answer.found }
}

/** The answer of a task as a message, for a client that gets no task. */
async function messageOf(call: A2ACall, found: FoundTask): Promise<A2AMessage> {
  const { contextId, artifacts = [] } = await present(call, found, { historyLength: 0 })
  const parts = artifacts.flatMap((artifact) => artifact.parts)
  if (parts.length === 0) throw new A2AError('invalid_agent_response', 'The agent did not answer.')
  return { messageId: answerIdOf(found.record), role: 'agent', parts, contextId }
}
