import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { memorySink, type Sink, startLlmRun, type TracedRun } from '../../src/models/tracing/index.ts'

const request = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }
const response = {
  object: 'chat.completion',
  model: 'gpt-4o',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2 },
}
const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** A sink that records its calls. */
function notes(answer: (kind: string, run: TracedRun) => unknown = () => {}) {
  const calls: [kind: string, run: TracedRun][] = []
  const called = (kind: string) => (run: TracedRun) => {
    calls.push([kind, run])
    return answer(kind, run)
  }
  const sink: Sink = { create: called('create'), update: called('update') }
  return { calls, sink }
}

describe('a run', () => {
  beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 2, 3, 4, 5, 678), toFake: ['Date'] }))
  afterEach(() => void vi.useRealTimers())

  test('is sent as a record of the platform at its start and at its end', async () => {
    const { calls, sink } = notes()
    const run = startLlmRun({
      name: 'answer',
      request,
      sinks: [sink],
      tags: ['a'],
      metadata: { thread_id: 't' },
    })
    vi.setSystemTime(Date.now() + 500)
    run.addEvent('new_token')
    run.addEvent('new_token')
    vi.setSystemTime(Date.now() + 500)
    const record = run.end(response)
    expect(run.end({ other: true })).toBe(record)
    expect(run.fail(new Error('late'))).toBe(record)
    run.addEvent('late')
    await run.delivered()

    expect(run.id).toMatch(UUID7)
    expect(run.dottedOrder).toMatch(/^20260102T030405678\d{3}Z/)
    const about = {
      id: run.id,
      name: 'answer',
      run_type: 'llm',
      start_time: '2026-01-02T03:04:05.678Z',
      tags: ['a'],
      trace_id: run.id,
      dotted_order: run.dottedOrder,
      inputs: { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] },
    }
    expect(calls).toEqual([
      [
        'create',
        {
          ...about,
          events: [],
          extra: {
            metadata: {
              ls_provider: 'openai',
              ls_model_name: 'gpt-4o',
              ls_model_type: 'chat',
              thread_id: 't',
            },
          },
        },
      ],
      [
        'update',
        {
          ...about,
          end_time: '2026-01-02T03:04:06.678Z',
          outputs: record.outputs,
          events: [{ name: 'new_token', time: '2026-01-02T03:04:06.178Z' }],
          extra: {
            metadata: expect.objectContaining({
              thread_id: 't',
              usage_metadata: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
            }),
          },
        },
      ],
    ])
  })

  test('places its children in the trace, in the order of their starts', () => {
    const root = startLlmRun({ name: 'root', type: 'chain', inputs: { q: 1 } })
    const children = Array.from({ length: 50 }, () => root.child({ name: 'child' }))
    const inner = children[0]!.child({ name: 'inner' })
    const orders = children.map(({ dottedOrder }) => dottedOrder)
    expect(orders.toSorted()).toEqual(orders)
    expect(new Set(orders).size).toBe(50)
    for (const [run, parent] of [
      ...children.map((child) => [child, root] as const),
      [inner, children[0]!] as const,
    ]) {
      expect(run.traceId).toBe(root.id)
      expect(run.parentRunId).toBe(parent.id)
      expect(run.dottedOrder.slice(0, parent.dottedOrder.length + 1)).toBe(`${parent.dottedOrder}.`)
      expect(run.dottedOrder.slice(-36)).toBe(run.id)
    }
  })
})

test('a run that is no model call keeps inputs and outputs as they are, and its children are in its thread', async () => {
  const sink = memorySink()
  const root = startLlmRun({
    name: 'root',
    type: 'chain',
    inputs: { q: 1 },
    sinks: [sink],
    metadata: { thread_id: 't', other: 1 },
  })
  root.child({ name: 'model', request }).end(response)
  root.child({ name: 'tool', type: 'tool', inputs: { a: 1 } }).end('seven')
  root.end({ answer: 7 })
  await root.delivered()
  await expect.poll(() => sink.runs.every(({ end_time }) => end_time)).toBe(true)
  const [chain, model, tool] = sink.runs
  expect([chain!.inputs, chain!.outputs, chain!.run_type]).toEqual([{ q: 1 }, { answer: 7 }, 'chain'])
  expect([tool!.inputs, tool!.outputs, tool!.run_type]).toEqual([{ a: 1 }, { output: 'seven' }, 'tool'])
  expect(model!.extra.metadata).toMatchObject({ thread_id: 't', ls_model_name: 'gpt-4o' })
  expect(model!.extra.metadata).not.toHaveProperty('other')
})

test('a run that fails keeps what had arrived', async () => {
  const sink = memorySink()
  const run = startLlmRun({ name: 'm', request, sinks: [sink] })
  run.fail(new TypeError('no'), response)
  await run.delivered()
  expect(sink.runs[0]).toMatchObject({
    error: 'TypeError: no',
    outputs: { messages: [{ content: [{ text: 'Hello' }] }] },
  })
})

describe('sinks', () => {
  test('get update after create was answered, and the child after its parent', async () => {
    const order: string[] = []
    let letGo = () => {}
    const gate = new Promise<void>((resolve) => (letGo = resolve))
    const { sink } = notes(async (kind, { name }) => {
      if (kind === 'create' && name === 'root') await gate
      order.push(`${kind} ${name}`)
    })
    const root = startLlmRun({ name: 'root', type: 'chain', sinks: [sink] })
    const child = root.child({ name: 'child', request })
    child.end(response)
    root.end({})
    await new Promise((resolve) => setTimeout(resolve))
    expect(order).toEqual([])
    letGo()
    await Promise.all([root.delivered(), child.delivered()])
    expect(order.filter((one) => one.endsWith('root'))).toEqual(['create root', 'update root'])
    expect(order.filter((one) => one.endsWith('child'))).toEqual(['create child', 'update child'])
    expect(order[0]).toBe('create root')
  })

  test('that fail are reported, and the others still get the run', async () => {
    const errors: unknown[] = []
    const broken = notes((kind) => {
      if (kind === 'create') throw new Error('create')
      return Promise.reject(new Error('update'))
    })
    const memory = memorySink()
    const run = startLlmRun({
      name: 'm',
      request,
      sinks: [broken.sink, memory],
      onError: (error) => errors.push(error),
    })
    run.end(response)
    await run.delivered()
    expect(errors).toEqual([new Error('create'), new Error('update')])
    expect(broken.calls.map(([kind]) => kind)).toEqual(['create', 'update'])
    expect(memory.runs[0]!.end_time).toBeDefined()
  })

  test('that never answer are left after a timeout', async () => {
    vi.useFakeTimers()
    try {
      const errors: unknown[] = []
      const hanging = notes(() => new Promise(() => {}))
      const run = startLlmRun({
        name: 'm',
        request,
        sinks: [hanging.sink],
        onError: (error) => errors.push(error),
      })
      run.end(response)
      await vi.advanceTimersByTimeAsync(60_000)
      await run.delivered()
      expect(hanging.calls.map(([kind]) => kind)).toEqual(['create', 'update'])
      expect(errors).toEqual([new Error('A sink did not respond within 30 s.'), expect.any(Error)])
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  test('get the run as it was at that time, each in a copy of its own', async () => {
    const [first, second] = [
      notes((_, run) => {
        ;(run as { name: string }).name = 'changed'
      }),
      notes(),
    ]
    const messages = [{ role: 'user', content: 'before' }]
    const run = startLlmRun({
      name: 'm',
      request: { model: 'x', messages },
      sinks: [first.sink, second.sink],
    })
    messages[0]!.content = 'after'
    await run.delivered()
    expect(JSON.stringify(second.calls)).toContain('before')
    expect(second.calls[0]![1].name).toBe('m')
  })

  test('get plain JSON, whatever the run was made of', async () => {
    const memory = memorySink()
    const circle: Record<string, unknown> = {
      big: 10n,
      bytes: new Uint8Array([1, 2, 3]),
      when: new Date(0),
      f() {},
    }
    circle.self = circle
    Object.defineProperty(circle, 'broken', {
      enumerable: true,
      get() {
        throw new Error('getter')
      },
    })
    const run = startLlmRun({ name: 'm', type: 'tool', inputs: circle, sinks: [memory] })
    await run.delivered()
    const { inputs } = memory.runs[0]!
    expect(inputs).toEqual({
      big: '10',
      bytes: 'AQID',
      when: '1970-01-01T00:00:00.000Z',
      self: '[circular]',
      broken: '[getter]',
    })
  })
})

describe('redact', () => {
  test('decides what sinks see', async () => {
    const memory = memorySink()
    const given: TracedRun[] = []
    const run = startLlmRun({
      name: 'm',
      request,
      sinks: [memory],
      redact(seen) {
        given.push(seen)
        return { ...seen, inputs: {}, ...(seen.outputs && { outputs: { hidden: true } }) }
      },
    })
    const record = run.end(response)
    await run.delivered()
    expect(given).toHaveLength(2)
    expect(memory.runs[0]).toMatchObject({ inputs: {}, outputs: { hidden: true } })
    expect(JSON.stringify(memory.runs)).not.toContain('Hello')
    expect(JSON.stringify(record)).toContain('Hello')
  })

  test('that throws lets no run out', async () => {
    const errors: unknown[] = []
    const memory = memorySink()
    const run = startLlmRun({
      name: 'm',
      request,
      sinks: [memory],
      onError: (error) => errors.push(error),
      redact() {
        throw new Error('cannot')
      },
    })
    run.end(response)
    await run.delivered()
    expect(memory.runs).toEqual([])
    expect(errors).toEqual([new Error('cannot'), new Error('cannot')])
  })
})

describe('base64 in a run', () => {
  const bytes = new Uint8Array(3000).fill(7)
  const base64 = Buffer.from(bytes).toString('base64')
  const small = Buffer.from(new Uint8Array(60).fill(1)).toString('base64')
  const inputs = {
    block: { type: 'image', base64, mime_type: 'image/png' },
    url: { image_url: { url: `data:image/png;base64,${base64}` } },
    small: { data: small },
    text: { data: 'This is a text, and not a medium at all!' },
  }
  const digest = async () => {
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
    return `sha256:${Buffer.from(hash).toString('hex')};bytes=3000`
  }

  async function seen(policy: 'keep' | 'hash' | number | undefined) {
    const memory = memorySink()
    await startLlmRun({ name: 'm', type: 'tool', inputs, sinks: [memory], base64: policy }).delivered()
    return memory.runs[0]!.inputs
  }

  test('is kept', async () => {
    expect(await seen('keep')).toEqual(inputs)
    expect(await seen(undefined)).toEqual(inputs)
  })

  test('is hashed', async () => {
    const stub = await digest()
    expect(await seen('hash')).toEqual({
      block: { ...inputs.block, base64: stub },
      url: { image_url: { url: `data:image/png;${stub}` } },
      small: { data: expect.stringMatching(/^sha256:[0-9a-f]{64};bytes=60$/) },
      text: inputs.text,
    })
  })

  test('is hashed above a size', async () => {
    expect(await seen(100)).toMatchObject({ block: { base64: await digest() }, small: inputs.small })
  })
})
