import {
  ListTaskPushNotificationConfigsResponse,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  SendMessageResponse,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk'
import type {
  Message as Message03,
  Task as Task03,
  TaskArtifactUpdateEvent as TaskArtifactUpdateEvent03,
  TaskPushNotificationConfig as TaskPushNotificationConfig03,
  TaskStatusUpdateEvent as TaskStatusUpdateEvent03,
} from 'a2a-sdk-03'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { v1 as dialectV1, writeList } from '../../../src/faces/a2a/dialects/v1.ts'
import * as v1Readers from '../../../src/faces/a2a/dialects/v1-read.ts'
import { v03 as dialectV03 } from '../../../src/faces/a2a/dialects/v03.ts'
import * as v03Readers from '../../../src/faces/a2a/dialects/v03-read.ts'
import type { Artifact, Task as ModelTask, SendRequest, StreamItem } from '../../../src/faces/a2a/model.ts'
import * as arbitrary from '../arbitraries.ts'

const v1 = { ...dialectV1, ...v1Readers }
const v03 = { ...dialectV03, ...v03Readers }

/** As a client reads it. */
const wire = (value: unknown) => JSON.parse(JSON.stringify(value))

/** Every key but those within values that a user chose. */
function keysOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(keysOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'metadata' || key === 'data' ? [key] : [key, ...keysOf(inner)],
  )
}

describe('v1.0', () => {
  test('every answer is what the official codec writes for it, with no field more', () => {
    fc.assert(
      fc.property(arbitrary.task, arbitrary.message, (task, message) => {
        expect(Task.toJSON(Task.fromJSON(wire(v1.writeTask(task))))).toEqual(wire(v1.writeTask(task)))
        for (const sent of [{ task }, { message }]) {
          const ours = wire(v1.writeSent(sent))
          expect(SendMessageResponse.toJSON(SendMessageResponse.fromJSON(ours))).toEqual(ours)
        }
      }),
    )
  })

  test('every item of a stream and every notification is what the official codec writes for it', () => {
    fc.assert(
      fc.property(arbitrary.item, arbitrary.task, (item, task) => {
        const ours = wire(v1.writeItem(item))
        expect(StreamResponse.toJSON(StreamResponse.fromJSON(ours))).toEqual(ours)
        expect(Object.keys(ours)).toHaveLength(1)
        const { body, contentType } = v1.writeNotification(item, task)
        expect(wire(body)).toEqual(ours)
        expect(contentType).toBe('application/a2a+json')
      }),
    )
  })

  test('lists of tasks always have the four members, which the official codec leaves out when they are empty', () => {
    fc.assert(
      fc.property(arbitrary.taskList, (list) => {
        const ours = wire(writeList(list))
        const theirs = ListTasksResponse.toJSON(ListTasksResponse.fromJSON(ours)) as object
        expect({ tasks: [], nextPageToken: '', totalSize: 0, ...theirs }).toEqual(ours)
      }),
    )
  })

  test('push configurations are flat, as the official codec writes them', () => {
    fc.assert(
      fc.property(fc.array(arbitrary.push, { minLength: 1, maxLength: 3 }), (pushes) => {
        const [first] = pushes
        const ours = wire(v1.writePush(first!))
        expect(TaskPushNotificationConfig.toJSON(TaskPushNotificationConfig.fromJSON(ours))).toEqual(ours)
        expect(v1.readSetPush(ours)).toEqual(first)
        const all = wire(v1.writePushList(pushes))
        const theirs = ListTaskPushNotificationConfigsResponse.fromJSON(all)
        expect(ListTaskPushNotificationConfigsResponse.toJSON(theirs)).toEqual(all)
      }),
    )
  })

  test('a push configuration of v0.3 without a scheme has no authentication', () => {
    const config = { id: 'p', url: 'https://example.com', authentication: { schemes: [] } }
    expect(wire(v1.writePush({ taskId: 't', config }))).toEqual({
      taskId: 't',
      id: 'p',
      url: 'https://example.com',
    })
  })

  test('never says kind or final', () => {
    fc.assert(
      fc.property(
        arbitrary.item,
        arbitrary.taskList,
        arbitrary.push,
        arbitrary.message,
        (item, list, push, message) => {
          const all = [
            v1.writeItem(item),
            writeList(list),
            v1.writePush(push),
            v1.writePushList([push]),
            v1.writeSent({ message }),
          ]
          expect(keysOf(wire(all)).filter((key) => key === 'kind' || key === 'final')).toEqual([])
        },
      ),
    )
  })

  test('a message is the same after it was written and read', () => {
    fc.assert(
      fc.property(arbitrary.message, (message) => {
        const ours = wire({ message: v1.writeMessage(message) })
        expect(v1.readSend(ours).message).toEqual(message)
        expect(wire({ message: v1.writeMessage(v1.readSend(ours).message) })).toEqual(ours)
      }),
    )
  })

  test('a request is read the same from the official codec, in camel case and in snake case', () => {
    fc.assert(
      fc.property(arbitrary.sendRequest, (request) => {
        const theirs = SendMessageRequest.toJSON(SendMessageRequest.fromJSON(wire(asV1(request)))) as object
        expect(v1.readSend(theirs)).toEqual(request)
        expect(v1.readSend(snakeCase(theirs))).toEqual(request)
      }),
    )
  })

  test('data may be any JSON, also null', () => {
    for (const data of [null, 0, false, '', [1, [2]], 'x', { a: null }]) {
      const written = wire({
        message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data }] },
      })
      expect(v1.readSend(written).message.parts).toEqual([{ kind: 'data', data }])
    }
  })

  test('a message that the official client sends with all of its fields set to nothing is read as having none', () => {
    const message = {
      messageId: 'm',
      contextId: '',
      taskId: '',
      role: 1,
      parts: [{ text: 'hi', raw: null, url: null, data: null, filename: '', mediaType: '', metadata: null }],
      metadata: null,
      extensions: [],
      referenceTaskIds: [],
    }
    const read = v1.readSend({ message, configuration: null, metadata: null, tenant: '' })
    expect(wire(read)).toEqual({
      message: { messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'hi' }] },
      blocking: true,
    })
    expect(Message.fromJSON(message).role).toBe(1)
  })
})

function asV1({ message, blocking, historyLength, acceptedOutputModes, push, metadata }: SendRequest) {
  return {
    message: v1.writeMessage(message),
    configuration: {
      acceptedOutputModes,
      historyLength,
      returnImmediately: !blocking,
      taskPushNotificationConfig: push && {
        ...wire(v1.writePush({ taskId: '', config: { id: '', ...push } })),
      },
    },
    metadata,
  }
}

/** Everywhere but within values that a user chose. */
function snakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCase)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      key === 'metadata' || key === 'data' ? inner : snakeCase(inner),
    ]),
  )
}

describe('v0.3', () => {
  const artifact: Artifact = {
    artifactId: 'a',
    name: 'Answer',
    description: 'What was asked for',
    parts: [
      { kind: 'text', text: 'hi' },
      { kind: 'bytes', bytes: 'AA==', name: 'f.bin', mediaType: 'application/octet-stream' },
      { kind: 'uri', uri: 'https://example.com/f' },
      { kind: 'data', data: { a: 1 }, metadata: { b: 2 } },
      { kind: 'data', data: [1] },
    ],
    extensions: ['https://example.com/e'],
    metadata: { c: 3 },
  }
  const artifact03 = {
    artifactId: 'a',
    name: 'Answer',
    description: 'What was asked for',
    parts: [
      { kind: 'text', text: 'hi' },
      { kind: 'file', file: { bytes: 'AA==', name: 'f.bin', mimeType: 'application/octet-stream' } },
      { kind: 'file', file: { uri: 'https://example.com/f' } },
      { kind: 'data', data: { a: 1 }, metadata: { b: 2 } },
      { kind: 'data', data: { value: [1] } },
    ],
    extensions: ['https://example.com/e'],
    metadata: { c: 3 },
  } satisfies NonNullable<Task03['artifacts']>[number]
  const message03 = {
    kind: 'message',
    messageId: 'm',
    role: 'agent',
    parts: [{ kind: 'text', text: 'Which one?' }],
    contextId: 'c',
    taskId: 't',
    referenceTaskIds: ['r'],
    extensions: ['e'],
    metadata: { d: 4 },
  } satisfies Message03
  const task: ModelTask = {
    id: 't',
    contextId: 'c',
    status: {
      state: 'input-required',
      message: {
        messageId: 'm',
        role: 'agent',
        parts: [{ kind: 'text', text: 'Which one?' }],
        contextId: 'c',
        taskId: 't',
        referenceTaskIds: ['r'],
        extensions: ['e'],
        metadata: { d: 4 },
      },
      timestamp: '2026-01-02T03:04:05.006Z',
    },
    history: [],
    artifacts: [artifact],
    metadata: { e: 5 },
  }
  const task03 = {
    kind: 'task',
    id: 't',
    contextId: 'c',
    status: { state: 'input-required', message: message03, timestamp: '2026-01-02T03:04:05.006Z' },
    history: [],
    artifacts: [artifact03],
    metadata: { e: 5 },
  } satisfies Task03

  test('every shape is the one of the official types', () => {
    const { status } = task
    const items: readonly (readonly [StreamItem, unknown])[] = [
      [{ type: 'task', task }, task03],
      [{ type: 'message', message: status.message! }, message03],
      [
        { type: 'status', taskId: 't', contextId: 'c', status, final: true, metadata: { f: 6 } },
        {
          kind: 'status-update',
          taskId: 't',
          contextId: 'c',
          status: task03.status,
          final: true,
          metadata: { f: 6 },
        } satisfies TaskStatusUpdateEvent03,
      ],
      [
        { type: 'artifact', taskId: 't', contextId: 'c', artifact, append: false, lastChunk: true },
        {
          kind: 'artifact-update',
          taskId: 't',
          contextId: 'c',
          artifact: artifact03,
          append: false,
          lastChunk: true,
        } satisfies TaskArtifactUpdateEvent03,
      ],
    ]
    for (const [item, expected] of items) expect(wire(v03.writeItem(item))).toEqual(expected)
    expect(wire(v03.writeTask(task))).toEqual(task03)
    expect(wire(v03.writeSent({ task }))).toEqual(task03)
    expect(wire(v03.writeSent({ message: status.message! }))).toEqual(message03)
    const { body, contentType } = v03.writeNotification(items[2]![0], task)
    expect([wire(body), contentType]).toEqual([task03, 'application/json'])
  })

  test('push configurations are pairs', () => {
    const push = {
      taskId: 't',
      pushNotificationConfig: {
        id: 'p',
        url: 'https://example.com',
        token: 'k',
        authentication: { schemes: ['Bearer', 'Basic'], credentials: 's' },
      },
    } satisfies TaskPushNotificationConfig03
    const read = v03.readSetPush(push)
    expect(wire(v03.writePush({ ...read, config: { id: 'p', ...read.config } }))).toEqual(push)
    expect(wire(v03.writePushList([{ ...read, config: { id: 'p', ...read.config } }]))).toEqual([push])
  })

  test('never says a wrapper of v1.0', () => {
    fc.assert(
      fc.property(arbitrary.item, arbitrary.message, (item, message) => {
        const stray = new Set([
          'statusUpdate',
          'artifactUpdate',
          'task',
          'raw',
          'url',
          'filename',
          'mediaType',
        ])
        const written = wire([v03.writeItem(item), v03.writeSent({ message })])
        expect(keysOf(written).filter((key) => stray.has(key))).toEqual([])
        expect(written.every(({ kind }: { kind?: string }) => typeof kind === 'string')).toBe(true)
      }),
    )
  })

  test('a message is the same after it was written and read', () => {
    fc.assert(
      fc.property(arbitrary.message, (message) => {
        const ours = wire({ message: v03.writeMessage(message) })
        expect(v03.readSend(ours).message).toEqual(message)
        expect(wire({ message: v03.writeMessage(v03.readSend(ours).message) })).toEqual(ours)
      }),
    )
  })

  test('a request has all that its configuration says', () => {
    fc.assert(
      fc.property(arbitrary.sendRequest, ({ message, blocking, push, metadata, ...limits }) => {
        const configuration = { ...limits, blocking, pushNotificationConfig: push }
        const params = wire({ message: v03.writeMessage(message), configuration, metadata })
        expect(v03.readSend(params)).toEqual({ message, blocking, push, metadata, ...limits })
      }),
    )
  })

  test('a send waits unless the client says that it should not', () => {
    const message = { messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }] }
    expect(v03.readSend({ message }).blocking).toBe(true)
    expect(v03.readSend({ message, configuration: {} }).blocking).toBe(true)
    expect(v03.readSend({ message, configuration: { blocking: null } }).blocking).toBe(true)
    expect(v03.readSend({ message, configuration: { blocking: false } }).blocking).toBe(false)
  })

  test('the message id may stand beside the message or be empty, as old samples of LangGraph have it', () => {
    const message = { role: 'user', parts: [{ kind: 'text', text: 'x' }] }
    expect(v03.readSend({ message, messageId: 'beside' }).message.messageId).toBe('beside')
    const both = { message: { ...message, messageId: 'inside' }, messageId: 'beside' }
    expect(v03.readSend(both).message.messageId).toBe('inside')
    for (const empty of [
      { message, messageId: '' },
      { message: { ...message, messageId: '' } },
      { message: { ...message, messageId: '' }, messageId: '' },
    ])
      expect(v03.readSend(empty).message.messageId).toMatch(/^[0-9a-f-]{36}$/)
  })
})

test('the command of LangGraph is read from a message of either dialect and never written', () => {
  const command = { resume: [{ id: 'i', value: 'yes' }] }
  const old = { messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }], command }
  const newer = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }], command }
  expect(v03.readSend({ message: old }).message.command).toEqual(command)
  expect(v1.readSend({ message: newer }).message.command).toEqual(command)
  expect(wire(v03.writeSent({ message: v03.readSend({ message: old }).message }))).not.toHaveProperty(
    'command',
  )
  expect(wire(v1.writeSent({ message: v1.readSend({ message: newer }).message }))).not.toHaveProperty(
    'message.command',
  )
})

test('the dialects have the ten and the eleven methods, and no name twice', () => {
  expect([v03.methods.size, v1.methods.size]).toEqual([10, 11])
  expect(new Set([...v03.methods.keys(), ...v1.methods.keys()]).size).toBe(21)
  expect(new Set(v03.methods.values()).size).toBe(10)
  expect(new Set(v1.methods.values()).size).toBe(11)
})
