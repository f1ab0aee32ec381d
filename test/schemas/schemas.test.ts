import type { StandardSchemaV1 } from '@standard-schema/spec'
import { expect, expectTypeOf, test } from 'vitest'
import * as schemas from '../../src/faces/schemas/schemas.ts'
import { serve } from '../threads/local.ts'

const check = (schema: StandardSchemaV1, value: unknown) => schema['~standard'].validate(value)

test('what a server takes is checked as the server checks it', () => {
  expect(check(schemas.runStart, { assistantId: 'a', config: { tags: ['x'] } })).toEqual({
    value: { assistant_id: 'a', config: { tags: ['x'] } },
  })
  expect(check(schemas.runStart, { config: { tags: [1] } })).toEqual({
    issues: [{ message: 'expected a string', path: ['config', 'tags', 0] }],
  })
  expect(check(schemas.runCreate, {})).toMatchObject({ issues: [{ path: ['assistant_id'] }] })
})

test('the types are those of the values', () => {
  expectTypeOf<schemas.RunStart['assistant_id']>().toEqualTypeOf<string | undefined>()
  expectTypeOf<schemas.Thread['status']>().toEqualTypeOf<'idle' | 'busy' | 'interrupted' | 'error'>()
  expectTypeOf<schemas.WireEvent['method']>().toEqualTypeOf<
    | 'lifecycle'
    | 'messages'
    | 'tools'
    | 'values'
    | 'updates'
    | 'checkpoints'
    | 'tasks'
    | 'input.requested'
    | 'custom'
  >()
})

test('every event and answer of a run fits', async () => {
  const { server } = serve()
  const ask = async (method: string, path: string, body?: object) =>
    server.fetch(
      new Request(`http://127.0.0.1${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
  const input = { messages: [{ type: 'human', content: 'Hi' }] }
  await ask('POST', '/threads/t/runs/wait', { assistant_id: 'chat', input, if_not_exists: 'create' })
  const channels = [
    'values',
    'updates',
    'messages',
    'tools',
    'lifecycle',
    'checkpoints',
    'tasks',
    'input',
    'custom',
  ]
  const answer = await ask('POST', '/threads/t/stream/events', { channels, since: 0 })
  const methods = new Set<string>()
  let text = ''
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (/"event":"completed"[^\n]*\n\n/.test(text)) break
  }
  for (const [, data] of text.matchAll(/^data: (.*)$/gm)) {
    const event = JSON.parse(data!)
    expect(check(schemas.threadEvent, event)).toMatchObject({ value: { method: event.method } })
    methods.add(event.method)
  }
  expect([...methods]).toEqual(
    expect.arrayContaining(['lifecycle', 'messages', 'values', 'updates', 'tasks']),
  )
  expect(check(schemas.thread, await (await ask('GET', '/threads/t')).json())).toHaveProperty('value')
  expect(check(schemas.threadState, await (await ask('GET', '/threads/t/state')).json())).toHaveProperty(
    'value',
  )
  const [run] = await (await ask('GET', '/threads/t/runs')).json()
  expect(check(schemas.run, run)).toHaveProperty('value')
})
