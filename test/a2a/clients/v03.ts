import { randomUUID } from 'node:crypto'
import type { Artifact, Message, MessageSendParams, Part, Task, TaskPushNotificationConfig } from 'a2a-sdk-03'
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from 'a2a-sdk-03/client'
import type { OpenClient, Push, SendOptions, Told } from './client.ts'

/** `@a2a-js/sdk` 0.3.14. */
export const openV03: OpenClient = async (base, cardPath, fetchImpl) => {
  const client = await new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  }).createFromUrl(base, cardPath)
  return {
    send: async (text, options) => toldBy(await client.sendMessage(paramsOf(text, options))),
    stream: (text, options) => each(client.sendMessageStream(paramsOf(text, options))),
    get: async (id) => toldBy(await client.getTask({ id })),
    cancel: async (id) => toldBy(await client.cancelTask({ id })),
    resubscribe: (id) => each(client.resubscribeTask({ id })),
    setPush: async (taskId, push) =>
      pushOf(await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: push })),
    getPush: async (id, pushNotificationConfigId) =>
      pushOf(await client.getTaskPushNotificationConfig({ id, pushNotificationConfigId } as { id: string })),
    listPush: async (id) => (await client.listTaskPushNotificationConfig({ id })).map(pushOf),
    deletePush: (id, pushNotificationConfigId) =>
      client.deleteTaskPushNotificationConfig({ id, pushNotificationConfigId }),
  }
}

const paramsOf = (text: string, { blocking, ...ids }: SendOptions = {}): MessageSendParams => ({
  message: {
    kind: 'message',
    messageId: randomUUID(),
    role: 'user',
    parts: [{ kind: 'text', text }],
    ...ids,
  },
  ...(blocking !== undefined && { configuration: { blocking } }),
})

type Event = Task | Message | Exclude<Awaited<ReturnType<Stream['next']>>['value'], void>
type Stream = ReturnType<Awaited<ReturnType<ClientFactory['createFromUrl']>>['sendMessageStream']>

async function* each(events: AsyncIterable<Event>): AsyncGenerator<Told> {
  for await (const event of events) yield toldBy(event)
}

function toldBy(event: Event): Told {
  switch (event.kind) {
    case 'task':
      return {
        kind: 'task',
        id: event.id,
        contextId: event.contextId,
        state: event.status.state,
        text: textOf(event.artifacts ?? []),
      }
    case 'message':
      return {
        kind: 'message',
        id: event.taskId ?? '',
        contextId: event.contextId ?? '',
        text: join(event.parts),
      }
    case 'status-update':
      return {
        kind: 'status',
        id: event.taskId,
        contextId: event.contextId,
        state: event.status.state,
        text: '',
      }
    case 'artifact-update':
      return {
        kind: 'artifact',
        id: event.taskId,
        contextId: event.contextId,
        text: textOf([event.artifact]),
      }
  }
}

const textOf = (artifacts: readonly Artifact[]): string => artifacts.map(({ parts }) => join(parts)).join('')
const join = (parts: readonly Part[]): string =>
  parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')

const pushOf = ({ pushNotificationConfig: { id, url, token } }: TaskPushNotificationConfig): Push => ({
  id: id!,
  url,
  ...(token !== undefined && { token }),
})
