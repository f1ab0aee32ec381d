import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Json } from '../kit/events.ts'
import { listen } from '../kit/listen.ts'
import { like, type Peer, peerOf, serveAgent } from './requirements/peer.ts'
import * as v1 from './requirements/shapes-v1.ts'
import * as v03 from './requirements/shapes-v03.ts'

/** What A2A demands of a server whose card announces push notifications, in both versions. */

const HOOK = 'https://example.com/hook'

let served: Awaited<ReturnType<typeof serveAgent>>
let peer: Peer

beforeAll(async () => {
  served = await serveAgent(0, { push: { allowLoopback: true } })
  peer = peerOf(`${served.origin}/a2a/tck`)
})
afterAll(() => served.close())

async function result(method: string, params: unknown): Promise<Json> {
  const { body } = await peer.call(method, params)
  expect(body).not.toHaveProperty('error')
  return body.result
}

const codeOf = async (of: Peer, method: string, params: unknown): Promise<number> =>
  (await of.call(method, params)).body.error.code

const sendV1 = async (behaviour: string, more: object = {}, configuration?: object): Promise<Json> => {
  const message = { role: 'ROLE_USER', parts: [{ text: 'Hello' }], messageId: like(behaviour), ...more }
  return (await result('SendMessage', { message, configuration })).task
}

const sendV03 = async (behaviour: string, more: object = {}, configuration?: object): Promise<Json> => {
  const parts = [{ kind: 'text', text: 'Hello' }]
  const message = { kind: 'message', role: 'user', parts, messageId: like(behaviour), ...more }
  return result('message/send', { message, configuration })
}

interface Hook {
  readonly url: string
  /** Settles with what the server has posted, once it satisfies the condition. */
  until(
    done: (body: Json) => boolean,
  ): Promise<{ readonly headers: IncomingHttpHeaders; readonly body: Json }>
}

/** A receiver on this machine. */
async function openHook(): Promise<Hook> {
  const got: { headers: IncomingHttpHeaders; body: Json }[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    got.push({ headers: request.headers, body: JSON.parse(text) })
    response.end()
    server.emit('posted')
  })
  const port = await listen(server)
  onTestFinished(() => void server.close())
  return {
    url: `http://127.0.0.1:${port}/hook`,
    async until(done) {
      for (;;) {
        const found = got.find(({ body }) => done(body))
        if (found) return found
        await once(server, 'posted')
      }
    },
  }
}

test('the card announces push notifications', async () => {
  const card = await (await fetch(`${peer.url}/.well-known/agent-card.json`)).json()
  expect(card.capabilities.pushNotifications).toBe(true)
})

describe('v1.0', () => {
  test('a config is kept, given, listed and deleted, and deleted again', async () => {
    const { id: taskId } = await sendV1('complete-task')
    const config = { id: 'mine', taskId, url: HOOK }
    expect(await result('CreateTaskPushNotificationConfig', config)).toMatchObject(config)
    expect(await result('GetTaskPushNotificationConfig', { taskId, id: 'mine' })).toMatchObject(config)
    const { configs } = await result('ListTaskPushNotificationConfigs', { taskId })
    expect(configs).toEqual([expect.objectContaining(config)])
    await result('DeleteTaskPushNotificationConfig', { taskId, id: 'mine' })
    expect(await codeOf(peer, 'GetTaskPushNotificationConfig', { taskId, id: 'mine' })).toBe(-32001)
    await result('DeleteTaskPushNotificationConfig', { taskId, id: 'mine' })
  })

  test('a config or a task that does not exist is refused', async () => {
    const { id: taskId } = await sendV1('complete-task')
    expect(await codeOf(peer, 'GetTaskPushNotificationConfig', { taskId, id: 'none' })).toBe(-32001)
    const config = { taskId: 'none', url: HOOK }
    expect(await codeOf(peer, 'CreateTaskPushNotificationConfig', config)).toBe(-32001)
  })

  test('the webhook of a message is told of the end of its task, with its credentials', async () => {
    const hook = await openHook()
    const authentication = { scheme: 'Bearer', credentials: 'my-token' }
    const taskPushNotificationConfig = { id: 'mine', url: hook.url, token: 'known', authentication }
    const { id } = await sendV1('input-required', {}, { taskPushNotificationConfig })
    await sendV1('complete-task', { taskId: id })
    const isEnd = ({ task, statusUpdate }: Json) =>
      (task ?? statusUpdate)?.status.state === 'TASK_STATE_COMPLETED'
    const { headers, body } = await hook.until(isEnd)
    v1.streamed.parse(body)
    expect(headers).toMatchObject({
      authorization: 'Bearer my-token',
      'content-type': expect.stringContaining('application/a2a+json'),
      'x-a2a-notification-token': 'known',
    })
  })

  test('a server without push notifications refuses what is about them', async () => {
    const without = await serveAgent(0, { push: false })
    onTestFinished(() => without.close())
    const other = peerOf(`${without.origin}/a2a/tck`)
    const card = await (await fetch(`${other.url}/.well-known/agent-card.json`)).json()
    expect(card.capabilities.pushNotifications ?? false).toBe(false)
    const params = { taskId: 't', id: 'c', url: HOOK }
    for (const name of ['Create', 'Get', 'Delete'])
      expect(await codeOf(other, `${name}TaskPushNotificationConfig`, params)).toBe(-32003)
    expect(await codeOf(other, 'ListTaskPushNotificationConfigs', params)).toBe(-32003)
    const { body } = await other.call('tasks/pushNotificationConfig/set', {
      taskId: 't',
      pushNotificationConfig: { url: HOOK },
    })
    expect(body.error).toMatchObject({ code: -32003, message: expect.stringMatching(/push notification/i) })
  })
})

describe('v0.3', () => {
  const method = (name: string) => `tasks/pushNotificationConfig/${name}`

  test('a config is kept, given, listed and deleted', async () => {
    const { id } = await sendV03('complete-task')
    const pair = { taskId: id, pushNotificationConfig: { id: 'mine', url: HOOK } }
    expect(await result(method('set'), pair)).toMatchObject(pair)
    expect(await result(method('get'), { id, pushNotificationConfigId: 'mine' })).toMatchObject(pair)
    expect(await result(method('list'), { id })).toEqual([expect.objectContaining(pair)])
    expect(await result(method('delete'), { id, pushNotificationConfigId: 'mine' })).toBeNull()
    expect(await result(method('list'), { id })).toEqual([])
  })

  test('a config without an id has that of its task', async () => {
    const { id } = await sendV03('complete-task')
    await result(method('set'), { taskId: id, pushNotificationConfig: { url: HOOK } })
    expect(await result(method('get'), { id })).toMatchObject({
      taskId: id,
      pushNotificationConfig: { id, url: HOOK },
    })
  })

  test('a task that does not exist is refused', async () => {
    const params = { taskId: 'none', pushNotificationConfig: { url: HOOK } }
    expect(await codeOf(peer, method('set'), params)).toBe(-32001)
    expect(await codeOf(peer, method('get'), { id: 'none' })).toBe(-32001)
  })

  test('the webhook of a message is sent the task', async () => {
    const hook = await openHook()
    const pushNotificationConfig = { url: hook.url, token: 'known' }
    const { id } = await sendV03('complete-task', {}, { pushNotificationConfig })
    const { headers, body } = await hook.until(({ status }) => status.state === 'completed')
    expect(v03.task.parse(body)).toMatchObject({ id })
    expect(headers).toMatchObject({
      'content-type': expect.stringContaining('application/json'),
      'x-a2a-notification-token': 'known',
    })
  })
})
