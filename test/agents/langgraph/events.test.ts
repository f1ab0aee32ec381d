import { describe, expect, test } from 'vitest'
import { createTranslator } from '../../../src/agents/langgraph/events.ts'
import type { EngineEvent } from '../../../src/agents/langgraph/graph.ts'
import { lines } from '../../fixtures/tasks.ts'

const event = (method: string, data: unknown, params: Partial<EngineEvent['params']> = {}): EngineEvent => ({
  method,
  params: { namespace: [], data, ...params },
})

const translateAll = (...events: EngineEvent[]) => {
  const { translate, rest } = createTranslator()
  return [...events.flatMap((one) => translate(one)), ...rest()]
}

const message = (data: object) => event('messages', data, { namespace: ['m:1'], node: 'model' })

describe('messages', () => {
  test.each([
    [
      'base64 media',
      { type: 'image', base64: 'AAA=', mimeType: 'image/png' },
      { type: 'image', data: 'AAA=', mime_type: 'image/png' },
    ],
    [
      'bytes',
      { type: 'video', data: new Uint8Array([0, 0]), mimeType: 'video/mp4' },
      { type: 'video', data: 'AAA=', mime_type: 'video/mp4' },
    ],
    [
      'links',
      { type: 'file', url: 'http://a.test', fileId: 'f1' },
      { type: 'file', url: 'http://a.test', file_id: 'f1' },
    ],
    [
      'the names of the wire',
      { type: 'audio', data: 'A', mime_type: 'a/b' },
      { type: 'audio', data: 'A', mime_type: 'a/b' },
    ],
    [
      'other blocks',
      { type: 'custom', base64: 'A', mimeType: 'x' },
      { type: 'custom', base64: 'A', mimeType: 'x' },
    ],
  ])('a finished block with %s has the names of the wire', (_, content, expected) => {
    expect(translateAll(message({ event: 'content-block-finish', index: 2, content, run_id: 'r' }))).toEqual([
      {
        method: 'messages',
        namespace: ['m:1'],
        node: 'model',
        data: { event: 'content-block-finish', index: 2, content: expected, run_id: 'r' },
      },
    ])
  })

  test('blocks that the engine appends to start empty', () => {
    const start = (content: object) => message({ event: 'content-block-start', index: 0, content })
    const started = translateAll(
      start({ type: 'tool_call_chunk', id: 'c', name: 'add', args: '{"a":1}' }),
      start({ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }),
      start({ type: 'audio', url: 'http://a.test' }),
      start({ type: 'text', text: '' }),
      start({ type: 'image', data: 'AAAA' }),
    ).map(({ data }) => (data as { content: unknown }).content)
    expect(started).toEqual([
      { type: 'tool_call_chunk', id: 'c', name: 'add', args: '' },
      { type: 'audio', data: '', mime_type: 'audio/wav' },
      { type: 'audio', url: 'http://a.test' },
      { type: 'text', text: '' },
      { type: 'image', data: 'AAAA' },
    ])
  })

  test('deltas are passed on without a copy, and malformed blocks are passed on too', () => {
    const delta = {
      event: 'content-block-delta',
      index: 0,
      delta: { type: 'text-delta', text: 'a' },
      run_id: 'r',
    }
    expect(translateAll(message(delta))[0]!.data).toBe(delta)
    const odd = { event: 'content-block-start', index: 0, content: null }
    expect(translateAll(message(odd))[0]!.data).toEqual(odd)
  })

  const shown = (...data: object[]) =>
    translateAll(...data.map((one) => message({ run_id: 'r', ...one }))).map((one) => {
      const { run_id, ...rest } = one.data as Record<string, unknown>
      expect(run_id).toBe('r')
      return rest
    })
  const begin = { event: 'message-start', id: 'm' }
  const block = (step: 'start' | 'finish', index: number, content: object) => ({
    event: `content-block-${step}`,
    index,
    content,
  })
  const delta = (index: number, one: object) => ({ event: 'content-block-delta', index, delta: one })
  const text = (index: number, words: string) => delta(index, { type: 'text-delta', text: words })
  const slice = (index: number, args: string) => delta(index, { type: 'tool-call-delta', args })
  const whole = (index: number, fields: object) =>
    delta(index, { type: 'block-delta', fields: { type: 'tool_call_chunk', ...fields } })
  const chunk = (id: string, args: string) => ({ type: 'tool_call_chunk', id, name: 'add', args })

  test('the start of a message has a role', () => {
    expect(shown(begin)).toEqual([{ ...begin, role: 'ai' }])
    expect(shown({ ...begin, role: 'human' })).toEqual([{ ...begin, role: 'human' }])
  })

  test.each([
    ['slices', [slice(0, '{"a":'), slice(0, '1}')]],
    ['all so far', [whole(0, chunk('c', '{"a":')), whole(0, chunk('c', '{"a":1}'))]],
  ])('arguments of a tool call that the engine sends as %s are repeated in whole', (_, deltas) => {
    const call = block('finish', 0, { type: 'tool_call', id: 'c', name: 'add', args: { a: 1 } })
    expect(
      shown(begin, block('start', 0, chunk('c', '')), ...deltas, call, { event: 'message-finish' }),
    ).toEqual([
      { ...begin, role: 'ai' },
      block('start', 0, chunk('c', '')),
      whole(0, chunk('c', '{"a":')),
      whole(0, chunk('c', '{"a":1}')),
      call,
      { event: 'message-finish' },
    ])
  })

  test('long arguments that come in small slices cost bytes in proportion to their length', () => {
    const slices = Array.from({ length: 10_000 }, () => slice(0, '0123456789'))
    const sent = shown(begin, block('start', 0, chunk('c', '')), ...slices)
    expect(JSON.stringify(sent).length).toBeLessThan(20 * 100_000)
  })

  test('a block that starts finishes the one before, which the engine does at the end', () => {
    expect(
      shown(
        begin,
        block('start', 0, { type: 'text', text: '' }),
        text(0, 'Let me '),
        text(0, 'add.'),
        block('start', 1, chunk('c', '')),
        slice(1, '{"a":1}'),
        block('start', 2, chunk('d', '')),
        slice(2, '{"a":'),
        block('finish', 0, { text: 'Let me add.', type: 'text' }),
        block('finish', 1, { type: 'tool_call', id: 'c', name: 'add', args: { a: 1 } }),
        block('finish', 2, { type: 'invalid_tool_call', id: 'd', name: 'add', args: '{"a":', error: 'no' }),
        { event: 'message-finish' },
      ).slice(1),
    ).toEqual([
      block('start', 0, { type: 'text', text: '' }),
      text(0, 'Let me '),
      text(0, 'add.'),
      block('finish', 0, { type: 'text', text: 'Let me add.' }),
      block('start', 1, chunk('c', '')),
      whole(1, chunk('c', '{"a":1}')),
      block('finish', 1, { type: 'tool_call', id: 'c', name: 'add', args: { a: 1 } }),
      block('start', 2, chunk('d', '')),
      whole(2, chunk('d', '{"a":')),
      block('finish', 2, { type: 'invalid_tool_call', id: 'd', name: 'add', args: '{"a":', error: 'no' }),
      { event: 'message-finish' },
    ])
  })

  test('a block that goes on after another one starts again with its content so far', () => {
    expect(
      shown(
        begin,
        block('start', 0, { type: 'text', text: '' }),
        text(0, 'a'),
        block('start', 1, { type: 'reasoning', reasoning: '' }),
        text(0, 'b'),
        block('finish', 0, { type: 'text', text: 'ab' }),
        block('finish', 1, { type: 'reasoning', reasoning: '', signature: 's' }),
        { event: 'message-finish' },
      ).slice(1),
    ).toEqual([
      block('start', 0, { type: 'text', text: '' }),
      text(0, 'a'),
      block('finish', 0, { type: 'text', text: 'a' }),
      block('start', 1, { type: 'reasoning', reasoning: '' }),
      block('finish', 1, { type: 'reasoning', reasoning: '' }),
      block('start', 0, { type: 'text', text: 'a' }),
      text(0, 'b'),
      block('finish', 0, { type: 'text', text: 'ab' }),
      // The engine knows more of this block than its deltas told.
      block('start', 1, { type: 'reasoning', reasoning: '' }),
      block('finish', 1, { type: 'reasoning', reasoning: '', signature: 's' }),
      { event: 'message-finish' },
    ])
  })

  test('the blocks of a message are counted from 0 where the indexes of the model begin later or have holes', () => {
    const call = { type: 'tool_call', id: 'c', name: 'add', args: { a: 1 } }
    expect(
      shown(
        begin,
        block('start', 1, chunk('c', '')),
        slice(1, '{"a":1}'),
        block('start', 4, { type: 'text', text: '' }),
        text(4, 'a'),
        block('start', 0, { type: 'reasoning', reasoning: '' }),
        text(4, 'b'),
        block('finish', 0, { type: 'reasoning', reasoning: '' }),
        block('finish', 1, call),
        block('finish', 4, { type: 'text', text: 'ab' }),
        { event: 'message-finish' },
      ).slice(1),
    ).toEqual([
      block('start', 0, chunk('c', '')),
      whole(0, chunk('c', '{"a":1}')),
      block('finish', 0, call),
      block('start', 1, { type: 'text', text: '' }),
      text(1, 'a'),
      block('finish', 1, { type: 'text', text: 'a' }),
      block('start', 2, { type: 'reasoning', reasoning: '' }),
      block('finish', 2, { type: 'reasoning', reasoning: '' }),
      block('start', 1, { type: 'text', text: 'a' }),
      text(1, 'b'),
      block('finish', 1, { type: 'text', text: 'ab' }),
      { event: 'message-finish' },
    ])
  })

  test('messages that are written at the same time do not finish blocks of each other', () => {
    const of = (run_id: string, data: object) => message({ run_id, ...data })
    const start = block('start', 0, { type: 'text', text: '' })
    const events = [of('r', begin), of('s', begin), of('r', start), of('s', start), of('r', text(0, 'a'))]
    expect(translateAll(...events)).toHaveLength(events.length)
  })

  test('the removal of all messages is no message, and those that its node writes with it are', () => {
    const removal = [message({ ...begin, id: '__remove_all__' }), message({ event: 'message-finish' })]
    const kept = [message(begin), message({ event: 'message-finish' })]
    expect(translateAll(...removal, ...kept)).toEqual(translateAll(...kept))
    expect(translateAll(...kept)).toHaveLength(2)
  })

  test('raw events of providers are left out', () => {
    expect(translateAll(message({ event: 'provider', provider: 'p', name: 'n', payload: {} }))).toEqual([])
  })
})

describe('lifecycle', () => {
  test('events of the root are dropped, because the run engine makes them, and those of children are kept', () => {
    expect(
      translateAll(
        event('lifecycle', { event: 'running', graph_name: 'root' }),
        event('lifecycle', { event: 'started', graph_name: 'sub' }, { namespace: ['sub:1'] }),
        event('lifecycle', { event: 'completed', graph_name: 'sub' }, { namespace: ['sub:1'] }),
        event('lifecycle', { event: 'completed', graph_name: 'root' }),
      ),
    ).toEqual([
      { method: 'lifecycle', namespace: ['sub:1'], data: { event: 'started', graph_name: 'sub' } },
      { method: 'lifecycle', namespace: ['sub:1'], data: { event: 'completed', graph_name: 'sub' } },
    ])
  })

  test('events call only the namespace of the waiting task interrupted', () => {
    const result = (id: string, interrupts: object[]) =>
      event('tasks', { id, name: 'sub', result: {}, interrupts }, { namespace: ['a:0'] })
    const completed = (id: string) =>
      event('lifecycle', { event: 'completed' }, { namespace: ['a:0', `sub:${id}`] })
    expect(
      lines(
        translateAll(result('1', [{ id: 'x', value: 1 }]), result('2', []), completed('1'), completed('2')),
      ),
    ).toEqual([
      'tasks [a:A] sub result',
      'tasks [a:A] sub result',
      'lifecycle [a:A|sub:B] interrupted',
      'lifecycle [a:A|sub:C] completed',
    ])
  })
})

describe('interrupts', () => {
  const asked = [{ id: 'i1', value: { at: new Date(0) } }]

  test('are requested once, where they are seen first, and are not sent as values or updates', () => {
    expect(
      translateAll(
        event(
          'updates',
          { node: '__interrupt__', values: asked },
          { namespace: ['sub:1'], node: '__interrupt__' },
        ),
        event('values', { __interrupt__: asked }, { namespace: ['sub:1'] }),
        event('updates', { node: '__interrupt__', values: asked }, { node: '__interrupt__' }),
        event('values', { __interrupt__: [...asked, { id: 'i2' }] }),
      ),
    ).toEqual([
      {
        method: 'input.requested',
        namespace: ['sub:1'],
        data: {
          interrupt_id: 'i1',
          payload: { at: '1970-01-01T00:00:00.000Z' },
          value: { at: '1970-01-01T00:00:00.000Z' },
        },
      },
      { method: 'input.requested', namespace: [], data: { interrupt_id: 'i2', payload: null, value: null } },
    ])
  })

  test('are not requested for a static breakpoint', () => {
    expect(
      translateAll(event('updates', { node: '__interrupt__', values: [] }, { node: '__interrupt__' })),
    ).toEqual([])
  })

  test('drop a tool error only when the error consists of interrupts', () => {
    const error = (message: string) => event('tools', { event: 'tool-error', tool_call_id: 'c', message })
    const id = '0'.repeat(32)
    expect(translateAll(error(JSON.stringify([{ id, value: 1 }])))).toEqual([])
    for (const real of [
      'no',
      '[',
      '[]',
      '[1]',
      '[{"value":1}]',
      `[{"id":"${id}"}]`,
      '[{"id":"x","value":1}]',
    ]) {
      expect(translateAll(error(real))).toHaveLength(1)
    }
  })
})

describe('checkpoints', () => {
  const checkpoint = (step: number, namespace: string[] = []) =>
    event('checkpoints', { id: `c${step}`, step }, { namespace })
  const values = (namespace: string[] = []) => event('values', { a: 1 }, { namespace })
  const custom = event('custom:x', 1)

  test('stay right before their values', () => {
    expect(lines(translateAll(checkpoint(1), custom, custom, values(), checkpoint(2), values()))).toEqual([
      'custom [] x',
      'custom [] x',
      'checkpoints [] step1',
      'values []',
      'checkpoints [] step2',
      'values []',
    ])
  })

  test('are not lost without values', () => {
    expect(
      lines(translateAll(checkpoint(1), checkpoint(2, ['a:1']), values(['a:1']), checkpoint(3))),
    ).toEqual(['checkpoints [] step1', 'checkpoints [a:A] step2', 'values [a:A]', 'checkpoints [] step3'])
  })
})

test('channels of stream transformers become custom events, and unknown methods are dropped', () => {
  expect(
    translateAll(
      event('custom:my:channel', new Set([1]), { namespace: ['a:1'] }),
      event('debug', {}),
      event('input', {}),
    ),
  ).toEqual([{ method: 'custom', namespace: ['a:1'], data: { name: 'my:channel', payload: [1] } }])
})
