import { Role, TaskState } from '@a2a-js/sdk'
import { JsonRpcTransportFactory } from '@a2a-js/sdk/client'
import { LegacyJsonRpcTransport } from '@a2a-js/sdk/compat/v0_3/client'
import { TaskNotFoundError } from '@a2a-js/sdk/errors'
import type { Message as Message03 } from 'a2a-sdk-03'
import {
  JsonRpcTransport as JsonRpcTransport03,
  TaskNotFoundError as TaskNotFoundError03,
} from 'a2a-sdk-03/client'
import { expect, test } from 'vitest'
import { A2AError } from '../../src/faces/a2a/errors.ts'
import type { StreamEntry } from '../../src/faces/a2a/model.ts'
import { serve, TASK, URL_OF_AGENT, V03_MESSAGE } from './fake-operations.ts'

type Own = Parameters<typeof serve>[0]

const VERSION_1 = { serviceParameters: { 'A2A-Version': '1.0' } }
const VERSION_03 = { serviceParameters: { 'A2A-Version': '0.3' } }

const MESSAGE = {
  messageId: 'm1',
  contextId: '',
  taskId: '',
  role: Role.ROLE_USER,
  parts: [
    {
      content: { $case: 'text' as const, value: 'hello' },
      metadata: undefined,
      filename: '',
      mediaType: '',
    },
    {
      content: { $case: 'raw' as const, value: Buffer.from([0, 255]) },
      metadata: undefined,
      filename: 'f.bin',
      mediaType: 'application/octet-stream',
    },
  ],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
}
const SEND = { tenant: '', message: MESSAGE, configuration: undefined, metadata: undefined }
const READ = {
  messageId: 'm1',
  role: 'user',
  parts: [
    { kind: 'text', text: 'hello' },
    { kind: 'bytes', bytes: 'AP8=', name: 'f.bin', mediaType: 'application/octet-stream' },
  ],
}

async function clients(own?: Own) {
  const { server, asked } = serve(own)
  const fetchImpl: typeof fetch = (input, init) => server.fetch(new Request(input as string, init))
  return {
    asked,
    newest: await new JsonRpcTransportFactory({ fetchImpl }).create(URL_OF_AGENT, undefined as never),
    legacy: new LegacyJsonRpcTransport({ endpoint: URL_OF_AGENT, fetchImpl }),
    old: new JsonRpcTransport03({ endpoint: URL_OF_AGENT, fetchImpl }),
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

test('the client of 1.3.0 sends, streams, lists and keeps push configurations', async () => {
  const { newest, asked } = await clients()
  const sent = await newest.sendMessage(SEND, VERSION_1)
  expect(sent).toMatchObject({ id: 't1', status: { state: TaskState.TASK_STATE_WORKING } })
  expect(asked[0]!.request).toMatchObject({ message: READ, blocking: true })
  const items = await all(newest.sendMessageStream(SEND, VERSION_1))
  expect(items.map(({ payload }) => payload?.$case)).toEqual(['task', 'statusUpdate', 'statusUpdate'])
  expect((await all(newest.resubscribeTask({ tenant: '', id: 't1' }, VERSION_1))).length).toBe(2)
  const filters = {
    tenant: '',
    contextId: '',
    status: TaskState.TASK_STATE_UNSPECIFIED,
    pageToken: '',
    pageSize: 5,
    historyLength: undefined,
    statusTimestampAfter: '2026-01-01T00:00:00.000Z',
    includeArtifacts: false,
  }
  expect((await newest.listTasks(filters, VERSION_1)).tasks).toHaveLength(1)
  expect(asked.at(-1)!.request).toMatchObject({ pageSize: 5, changedSince: Date.UTC(2026, 0) })
  const config = {
    tenant: '',
    id: '',
    taskId: 't1',
    url: 'https://example.com/hook',
    token: 'k',
    authentication: { scheme: 'Bearer', credentials: 's' },
  }
  expect(await newest.createTaskPushNotificationConfig(config, VERSION_1)).toMatchObject({
    id: 'p1',
    taskId: 't1',
    authentication: { scheme: 'Bearer' },
  })
  const named = { tenant: '', taskId: 't1', id: 'p1' }
  expect(await newest.getTaskPushNotificationConfig(named, VERSION_1)).toMatchObject({ id: 'p1' })
  const listed = { tenant: '', taskId: 't1', pageSize: 0, pageToken: '' }
  expect((await newest.listTaskPushNotificationConfig(listed, VERSION_1)).configs).toHaveLength(1)
  await newest.deleteTaskPushNotificationConfig(named, VERSION_1)
  expect(asked.map(({ operation }) => operation)).toEqual([
    'send',
    'stream',
    'subscribe',
    'listTasks',
    'setPush',
    'getPush',
    'listPush',
    'deletePush',
  ])
})

test('the client of 1.3.0 that speaks v0.3 sends and streams', async () => {
  const { legacy, asked } = await clients()
  expect(await legacy.sendMessage(SEND, VERSION_03)).toMatchObject({ id: 't1' })
  expect(asked[0]!.request).toMatchObject({ message: READ, blocking: true })
  const items = await all(legacy.sendMessageStream(SEND, VERSION_03))
  expect(items.map(({ payload }) => payload?.$case)).toEqual(['task', 'statusUpdate', 'statusUpdate'])
  expect(await legacy.cancelTask({ tenant: '', id: 't1', metadata: undefined }, VERSION_03)).toMatchObject({
    status: { state: TaskState.TASK_STATE_CANCELED },
  })
})

test('the client of 0.3.14 sends, streams and keeps push configurations', async () => {
  const { old, asked } = await clients()
  const message = V03_MESSAGE as Message03
  expect(await old.sendMessage({ message })).toEqual({
    kind: 'task',
    ...TASK,
  })
  const items = await all(old.sendMessageStream({ message }))
  expect(items.map(({ kind }) => kind)).toEqual(['task', 'status-update', 'status-update'])
  expect((await all(old.resubscribeTask({ id: 't1' }))).at(-1)).toMatchObject({ final: true })
  const pushNotificationConfig = { url: 'https://example.com/hook', authentication: { schemes: ['Bearer'] } }
  const push = await old.setTaskPushNotificationConfig({ taskId: 't1', pushNotificationConfig })
  expect(push).toEqual({ taskId: 't1', pushNotificationConfig: { ...pushNotificationConfig, id: 'p1' } })
  expect(await old.getTaskPushNotificationConfig({ id: 't1' })).toMatchObject({ taskId: 't1' })
  expect(await old.listTaskPushNotificationConfig({ id: 't1' })).toHaveLength(1)
  await old.deleteTaskPushNotificationConfig({ id: 't1', pushNotificationConfigId: 'p1' })
  expect(asked.map(({ operation }) => operation)).toEqual([
    'send',
    'stream',
    'subscribe',
    'setPush',
    'getPush',
    'listPush',
    'deletePush',
  ])
})

test('each client throws its typed error, also where a stream is refused', async () => {
  const refuse = async () => {
    throw new A2AError('task_not_found', 'No such task.')
  }
  // biome-ignore lint/correctness/useYield: it fails before its first entry
  const refuseStream = async function* (): AsyncIterable<StreamEntry> {
    await refuse()
  }
  const { newest, legacy, old } = await clients({
    getTask: refuse,
    subscribe: refuseStream,
    stream: refuseStream,
  })
  const task = { tenant: '', id: 't9', historyLength: undefined }
  await expect(newest.getTask(task, VERSION_1)).rejects.toThrow(TaskNotFoundError)
  await expect(legacy.getTask(task, VERSION_03)).rejects.toThrow(TaskNotFoundError)
  await expect(old.getTask({ id: 't9' })).rejects.toThrow(TaskNotFoundError03)
  for (const refused of [
    () => newest.resubscribeTask({ tenant: '', id: 't9' }, VERSION_1),
    () => newest.sendMessageStream(SEND, VERSION_1),
    () => legacy.resubscribeTask({ tenant: '', id: 't9' }, VERSION_03),
    () => legacy.sendMessageStream(SEND, VERSION_03),
  ])
    await expect(all(refused())).rejects.toThrow(TaskNotFoundError)
  // Of a stream this client gives every error as the cause of another.
  await expect(all(old.resubscribeTask({ id: 't9' }))).rejects.toMatchObject({
    message: expect.stringContaining('-32001'),
    cause: expect.any(TaskNotFoundError03),
  })
  const unreadable = { ...V03_MESSAGE, parts: [{ kind: 'image' }] }
  const error = await old.sendMessage({ message: unreadable as never }).catch((thrown: unknown) => thrown)
  expect(error).toHaveProperty('errorResponse.error.code', -32005)
  const withoutParts = { ...SEND, message: { ...MESSAGE, parts: [] } }
  await expect(newest.sendMessage(withoutParts, VERSION_1)).rejects.toThrow('params.message.parts')
})
