import { randomUUID } from 'node:crypto'
import { type Message, Role, type Task, TaskState } from '@a2a-js/sdk'
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client'
import type { A2AClient, OpenClient, Push, SendOptions, Told } from './client.ts'

type SendRequest = Parameters<Client['sendMessage']>[0]
type StreamEvent = Exclude<
  Awaited<ReturnType<ReturnType<Client['sendMessageStream']>['next']>>['value'],
  void
>
type PushConfig = Awaited<ReturnType<Client['createTaskPushNotificationConfig']>>
type Part = Message['parts'][number]

/** `@a2a-js/sdk` 1.3.0. */
export const openV1: OpenClient = async (base, cardPath, fetchImpl) =>
  drive(await factory(fetchImpl).createFromUrl(base, cardPath))

/** `@a2a-js/sdk` 1.3.0 that speaks v0.3, because it takes the agent's interface of that version. */
export const openLegacy: OpenClient = async (base, cardPath, fetchImpl) => {
  const card = await new DefaultAgentCardResolver({ fetchImpl }).resolve(base, cardPath)
  const supportedInterfaces = card.supportedInterfaces.filter(
    ({ protocolVersion }) => protocolVersion === '0.3',
  )
  const { list: _, ...client } = drive(
    await factory(fetchImpl).createFromAgentCard({ ...card, supportedInterfaces }),
  )
  return client
}

function factory(fetchImpl: typeof fetch): ClientFactory {
  const legacyCompat = { enabled: true }
  return new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl, legacyCompat })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl, legacyCompat }),
  })
}

function drive(client: Client): A2AClient {
  const tenant = ''
  return {
    send: async (text, options) => toldBy(await client.sendMessage(requestOf(text, options))),
    stream: (text, options) => each(client.sendMessageStream(requestOf(text, options))),
    get: async (id) => toldBy(await client.getTask({ tenant, id })),
    async list(contextId) {
      const { tasks } = await client.listTasks({
        tenant,
        contextId,
        status: TaskState.TASK_STATE_UNSPECIFIED,
        pageToken: '',
        statusTimestampAfter: undefined,
      })
      return tasks.map(({ id }) => id)
    },
    cancel: async (id) => toldBy(await client.cancelTask({ tenant, id, metadata: undefined })),
    resubscribe: (id) => each(client.resubscribeTask({ tenant, id })),
    setPush: async (taskId, { id, url, token = '' }) =>
      pushOf(
        await client.createTaskPushNotificationConfig({
          tenant,
          id,
          taskId,
          url,
          token,
          authentication: undefined,
        }),
      ),
    getPush: async (taskId, id) => pushOf(await client.getTaskPushNotificationConfig({ tenant, taskId, id })),
    async listPush(taskId) {
      const { configs } = await client.listTaskPushNotificationConfig({
        tenant,
        taskId,
        pageSize: 0,
        pageToken: '',
      })
      return configs.map(pushOf)
    },
    deletePush: (taskId, id) => client.deleteTaskPushNotificationConfig({ tenant, taskId, id }),
  }
}

function requestOf(
  text: string,
  { contextId = '', taskId = '', blocking = true }: SendOptions = {},
): SendRequest {
  return {
    tenant: '',
    message: {
      messageId: randomUUID(),
      contextId,
      taskId,
      role: Role.ROLE_USER,
      parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: !blocking,
    },
    metadata: undefined,
  }
}

async function* each(events: AsyncIterable<StreamEvent>): AsyncGenerator<Told> {
  for await (const { payload } of events) {
    if (payload === undefined) throw new Error('An event of the stream has no content.')
    switch (payload.$case) {
      case 'task':
      case 'message':
        yield toldBy(payload.value)
        break
      case 'statusUpdate': {
        const { taskId: id, contextId, status } = payload.value
        yield { kind: 'status', id, contextId, state: stateOf(status!.state), text: '' }
        break
      }
      case 'artifactUpdate': {
        const { taskId: id, contextId, artifact } = payload.value
        yield { kind: 'artifact', id, contextId, text: join(artifact!.parts) }
      }
    }
  }
}

function toldBy(result: Task | Message): Told {
  if ('parts' in result)
    return { kind: 'message', id: result.taskId, contextId: result.contextId, text: join(result.parts) }
  const { id, contextId, status, artifacts } = result
  const text = artifacts.map(({ parts }) => join(parts)).join('')
  return { kind: 'task', id, contextId, state: stateOf(status!.state), text }
}

const stateOf = (state: TaskState): string =>
  TaskState[state].replace('TASK_STATE_', '').toLowerCase().replace('_', '-')

const join = (parts: readonly Part[]): string =>
  parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('')

const pushOf = ({ id, url, token }: PushConfig): Push => ({ id, url, ...(token !== '' && { token }) })
