import { AgentInputError, AgentRejection } from '../../../agents/errors.ts'
import type { Part, StreamItem, TaskState } from '../model.ts'
import { type Conversation, isWaiting, type Question } from './conversation.ts'
import { A2ARemoteError, shortened } from './remote-error.ts'
import { createReply, type RemoteQuestion, type ReplyWriter, type StreamedProgress } from './reply.ts'

/**
 * The state of a conversation with a remote agent, as plain JSON. Agents store it in their state as `a2a`.
 */
export interface A2ALink {
  readonly contextId?: string | undefined
  /** The newest task. A remote agent may answer without one. */
  readonly taskId?: string | undefined
  readonly state?: TaskState | undefined
  /** The questions of the remote agent, if the state is `input-required` or `auth-required`. */
  readonly questions?: readonly RemoteQuestion[] | undefined
  /** The id of the newest message that was sent and has reached the remote agent. */
  readonly messageId?: string | undefined
  /** The id of the newest thread message in it. */
  readonly sent?: string | undefined
  /** The progress of each artifact of a waiting task, by artifact id. */
  readonly said?: StreamedProgress | undefined
}

export interface ExchangeRequest extends ReplyWriter {
  readonly link: A2ALink
  readonly messageId: string
  readonly parts: readonly Part[]
  /**
   * Whether the parts answer the link's questions. A waiting task also gets other messages, but may have
   * ended.
   */
  readonly isAnswer: boolean
  readonly signal: AbortSignal
  /** Called as soon as the remote agent has sent the task's id. */
  save(link: A2ALink): unknown
}

/** The result of an exchange. */
export interface Exchanged {
  readonly link: A2ALink
  /** Why the task failed. */
  readonly error: Error | undefined
}

/**
 * Sends a message and follows the task until it ends or waits. If the link shows that the message was already
 * sent, its task is followed instead. Rejects with an `A2ARemoteError`, or an `AgentInputError` if there is
 * nothing to send.
 */
export async function exchange(conversation: Conversation, request: ExchangeRequest): Promise<Exchanged> {
  const { messageId, parts, isAnswer, signal, save } = request
  let reply = createReply(request, request.link.said)
  let link = request.link
  let hasResponded = false

  async function ask(question: Question): Promise<void> {
    for await (const item of conversation.follow(question, signal)) {
      hasResponded = true
      const ids = idsOf(item)
      if (link.messageId !== messageId || ids.taskId !== link.taskId) {
        link = { ...link, questions: undefined, ...ids, messageId }
        await save(link)
      }
      await reply.push(item)
    }
  }

  const { contextId, taskId, state } = link
  const goesOn = taskId !== undefined && state !== undefined && isWaiting(state)
  const message = { messageId, role: 'user', parts, contextId } as const
  if (taskId !== undefined && link.messageId === messageId) await ask({ taskId })
  else if (parts.length === 0)
    throw new AgentInputError(
      'There is nothing to send to the remote agent: send a user message with text or a file.',
    )
  else if (isAnswer && state === 'auth-required' && !(await stillWaits())) await ask({ taskId: taskId! })
  else if (!goesOn) await ask({ message })
  else {
    try {
      await ask({ message: { ...message, taskId } })
    } catch (error) {
      if (isAnswer || hasResponded || !(error instanceof A2ARemoteError && error.code === 'refused'))
        throw error
      // The task has ended in the meantime.
      reply = createReply(request)
      await ask({ message })
    }
  }

  /** The remote agent may continue by itself once it has the authorization. */
  async function stillWaits(): Promise<boolean> {
    return isWaiting((await conversation.task(taskId!, signal)).status.state)
  }

  const { state: end, text, questions, said } = await reply.end()
  const open = isWaiting(end) ? { questions, said } : { questions: undefined, said: undefined }
  return { link: { ...link, state: end, ...open }, error: failureOf(end, shortened(text)) }
}

function idsOf(item: StreamItem): Pick<A2ALink, 'contextId' | 'taskId' | 'state'> {
  switch (item.type) {
    case 'message':
      return { ...known(item.message.contextId), taskId: undefined, state: 'completed' }
    case 'task':
      return { ...known(item.task.contextId), taskId: item.task.id, state: item.task.status.state }
    case 'status':
      return { ...known(item.contextId), taskId: item.taskId, state: item.status.state }
    case 'artifact':
      return { ...known(item.contextId), taskId: item.taskId, state: 'working' }
  }
}

const known = (contextId: string | undefined) => (contextId ? { contextId } : {})

function failureOf(state: TaskState, text: string): Error | undefined {
  if (state === 'rejected') return new AgentRejection(text || 'The remote agent declines the task.')
  if (state === 'canceled') return new A2ARemoteError('task_canceled', text || 'The task was canceled.')
  if (state === 'failed') return new A2ARemoteError('task_failed', text || 'The remote agent failed.')
  return undefined
}
