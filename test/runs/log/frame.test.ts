import { expect, test } from 'vitest'
import { encodeFrame, eventId, parseEventId, pendingEvent, topicOf } from '../../../src/engine/log/frame.ts'
import type { AgentEvent } from '../../../src/messages/thread-events/index.ts'

const topic = (method: AgentEvent['method'], data: unknown, namespace: string[] = []) =>
  topicOf({ topic: pendingEvent({ method, namespace, data } as AgentEvent, 'r').topic, token: 3 })

test.each<[AgentEvent['method'], unknown, string | undefined]>([
  ['custom', { name: 'progress' }, 'progress'],
  ['custom', { name: 5 }, '5'],
  ['custom', { name: '' }, ''],
  ['custom', { name: null }, undefined],
  ['custom', {}, undefined],
  ['custom', 'name', undefined],
  ['custom', null, undefined],
  ['input.requested', { interrupt_id: 'i' }, 'i'],
  ['input.requested', { interrupt_id: 5 }, undefined],
  ['input.requested', { interrupt_id: null }, undefined],
  ['values', { name: 'progress', interrupt_id: 'i' }, undefined],
])('the detail of %s with %j is %j', (method, data, detail) => {
  expect(topic(method, data, ['a', 'b:1'])).toEqual({
    method,
    namespace: ['a', 'b:1'],
    runId: 'r',
    detail,
    token: 3,
  })
})

test('the id of an event is read back, and no other text is', () => {
  expect(parseEventId(eventId(12, 345))).toEqual({ token: 12, seq: 345 })
  for (const id of [
    '',
    '1',
    '1-',
    '-1',
    '1-2-3',
    'a1-2',
    '1-2a',
    '1--2',
    '1.5-2',
    `${'9'.repeat(16)}-1`,
    `1-${'9'.repeat(16)}`,
  ])
    expect(parseEventId(id)).toBeUndefined()
})

test('a frame has the whole event in one line of data, with its node where it has one', () => {
  const data = { node: 'n', values: 'a\nb\u2028' }
  const frames = [undefined, 'n\n'].map((node) => {
    const event: AgentEvent = {
      method: 'updates',
      namespace: ['a'],
      data,
      ...(node !== undefined && { node }),
    }
    return new TextDecoder().decode(encodeFrame(pendingEvent(event, 'r'), 3, 8).data)
  })
  const events = frames.map((frame) => {
    const [id, method, line, ...rest] = frame.split('\n')
    expect([id, method, rest]).toEqual(['id: 3-8', 'event: updates', ['', '']])
    return JSON.parse(line!.slice('data: '.length)) as { params: object }
  })
  const params = { namespace: ['a'], timestamp: expect.any(Number), data }
  const event = { type: 'event', event_id: '3-8', seq: 8, method: 'updates' }
  expect(events).toEqual([
    { ...event, params },
    { ...event, params: { ...params, node: 'n\n' } },
  ])
})

test('an event without data has null', () => {
  expect(
    JSON.parse(pendingEvent({ method: 'values', namespace: [], data: undefined }, 'r').params),
  ).toMatchObject({
    data: null,
  })
})
