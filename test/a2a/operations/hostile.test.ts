import { describe, expect, test } from 'vitest'
import { defineAgent } from '../../../src/index.ts'
import type { Json } from '../../kit/events.ts'
import { eventually, gate } from '../../kit/wait.ts'
import { eventsOf } from '../fake-operations.ts'
import { answerOf, artifactsOf, clientOf, serve, stateOf, textOf, turnsOf, VERSIONS } from '../served.ts'
import { asks, echo, graph, held, notes } from '../served-agents.ts'

const MiB = 1024 * 1024

/** Texts that end lines, frames or strings somewhere, or are no text at all. */
const TEXTS = [
  'a\r\nb\rc\nd',
  'x\n\ndata: {"jsonrpc":"2.0","id":7,"result":{"forged":true}}\n\n',
  'x\r\n\r\nevent: error\r\nid: 99\r\nretry: 1\r\n: comment',
  '\u2028\u2029\u0085\v\f',
  '\u0000\u0001\u001b[2J\u007f',
  '\ud800',
  'a\udc00b\ud83d',
  '</script><script>alert(1)</script>',
  '{{7*7}}%s%n',
  '\u202e\ufeff\ufffe',
  '"\\\'`',
  '',
]

/** What ends a line for some reader. */
const BREAKS = ['\r', '\v', '\f', '\u0000', '\u0085', '\u2028', '\u2029']

describe.each(VERSIONS)('version %s', (version) => {
  test('any text comes back as it was, in its frame', async () => {
    const { server, errors } = serve({ echo: echo(), graph: graph(), asks: asks() })
    for (const assistant of ['echo', 'graph'])
      for (const text of TEXTS) {
        const client = clientOf(server, { assistant, version })
        const { result: task } = await client.send({ text, contextId: `c${text}` })
        expect([text, answerOf(task)]).toEqual([text, `You said: ${text}`])
        const { items, text: wire } = await client.stream({ text, contextId: `c${text}` })
        expect(answerOf({ artifacts: artifactsOf(items) })).toBe(`You said: ${text}`)
        expect(BREAKS.filter((character) => wire.includes(character))).toEqual([])
        const frames = eventsOf(wire)
        expect(frames.map(({ data }) => data.id)).toEqual(frames.map(() => 7))
        expect(
          wire
            .split('\n\n')
            .slice(0, -1)
            .every((frame) => /^(: .*\n)*(id: \d+\n)?data: .*$/.test(frame)),
        ).toBe(true)
      }
    const client = clientOf(server, { assistant: 'asks', version })
    for (const text of TEXTS) {
      const { result: asked } = await client.send({ text, messageId: `m${text}` })
      const { result: done } = await client.send({ text, taskId: asked.id })
      expect(answerOf(done)).toBe(`It is ${JSON.stringify(text)}.`)
    }
    expect(errors).toEqual([])
  })

  test('names of prototypes are keys like others, and change no prototype', async () => {
    const { server, errors } = serve({ echo: echo(), notes: notes(), asks: asks() })
    const evil = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1,"a":1}'
    for (const assistant of ['echo', 'notes', 'asks']) {
      const client = clientOf(server, { assistant, version })
      const parts = [{ kind: 'data', data: 'EVIL' }]
      if (assistant !== 'notes') parts.push({ kind: 'text', text: 'x' } as Json)
      const body = JSON.stringify(
        client.sending({
          parts,
          metadata: 'EVIL',
          outerMetadata: 'EVIL',
          contextId: '__proto__',
          messageId: 'constructor',
        }),
      ).replaceAll('"EVIL"', evil)
      const { result: task } = await client.post(body)
      expect([assistant, stateOf(task)]).toEqual([
        assistant,
        assistant === 'asks' ? 'input-required' : 'completed',
      ])
      for (const id of ['__proto__', 'constructor', 'prototype']) {
        expect((await client.get(id)).error.code).toBe(-32001)
        expect((await client.get(id, { contextId: id })).error.code).toBe(-32001)
      }
      if (assistant !== 'asks') continue
      const resume = JSON.stringify(
        client.sending({ text: 'x', command: { resume: 'EVIL' }, taskId: task.id }),
      )
      const { result: done } = await client.post(resume.replaceAll('"EVIL"', evil))
      expect(stateOf(done)).toBe('completed')
    }
    expect(({} as Json).polluted).toBeUndefined()
    expect(Object.prototype).not.toHaveProperty('a')
    expect(errors).toEqual([])
  })

  const part = (more: Json) => ({ parts: [more] })
  test.each([
    ['no parts', { parts: [] }, -32602],
    ['a part of nothing', part({}), -32602],
    ['base64 of another alphabet', part({ kind: 'file', file: { bytes: 'a-_b' } }), -32602],
    ['base64 without padding', part({ kind: 'file', file: { bytes: 'abc' } }), -32602],
    ['base64 with spaces', part({ kind: 'file', file: { bytes: 'ab c' } }), -32602],
    ['base64 that is a number', part({ kind: 'file', file: { bytes: 7 } }), -32602],
    ['a file of both kinds', part({ kind: 'file', file: { bytes: 'AAAA', uri: 'x' } }), -32602],
    ['a file of nothing', part({ kind: 'file', file: {} }), -32602],
    ['a text that is a number', part({ kind: 'text', text: 7 }), -32602],
    ['data that is a list', part({ kind: 'data', data: [1] }), -32005],
    ['data that is a text', part({ kind: 'data', data: 'x' }), -32005],
    ['a long id', { text: 'x', messageId: 'x'.repeat(513) }, -32602],
    ['a huge id', { text: 'x', messageId: 'x'.repeat(2_000_000) }, -32602],
    ['a huge context', { text: 'x', contextId: 'x'.repeat(2_000_000) }, -32602],
    ['a huge task', { text: 'x', taskId: 'x'.repeat(2_000_000) }, -32001],
    ['an answer to nobody', { text: 'x', command: { resume: 1 } }, -32602],
  ])('%s is refused, and nothing is written', async (_, words: Json, code) => {
    const { server, written, errors } = serve({ echo: echo() })
    const client = clientOf(server, { assistant: 'echo', version })
    for (const answer of [await client.send(words), await client.stream(words)]) {
      expect([answer.status, answer.error?.code]).toEqual([200, code])
      expect(answer.text.length).toBeLessThan(2_500)
    }
    expect(written()).toBe(0)
    expect(errors).toEqual([])
  })

  test('deep data is refused, less deep data is kept', async () => {
    const { server, written } = serve({ echo: echo() })
    const client = clientOf(server, { assistant: 'echo', version })
    const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    const of = (depth: number) =>
      JSON.stringify(
        client.sending({
          parts: [
            { kind: 'data', data: 'DEEP' },
            { kind: 'text', text: 'x' },
          ],
        }),
      ).replace('"DEEP"', deep(depth))
    for (const depth of [101, 100_000]) expect((await client.post(of(depth))).error.code).toBe(-32600)
    expect(written()).toBe(0)
    expect(stateOf((await client.post(of(80))).result)).toBe('completed')
  })

  test('very many parts are one message', async () => {
    const { server } = serve({ echo: echo(), notes: notes() })
    const client = clientOf(server, { assistant: 'echo', version })
    const parts = Array.from({ length: 20_000 }, (_, i) => ({ kind: 'text', text: `${i % 10}` }))
    const before = process.cpuUsage()
    const { result: task } = await client.send({ parts })
    expect(task.history[0].parts).toHaveLength(20_000)
    expect(answerOf(task)).toHaveLength('You said: '.length + 20_000)
    const data = Array.from({ length: 20_000 }, (_, i) => ({ kind: 'data', data: { [`k${i}`]: i } }))
    const { result } = await clientOf(server, { assistant: 'notes', version }).send({ parts: data })
    expect(['completed', 'failed']).toContain(stateOf(result))
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1_000).toBeLessThan(3_000)
  })

  test('a client that leaves does not end the task, whether it streams or waits', async () => {
    const open = gate()
    const { server, errors } = serve({ held: held(open) })
    const client = clientOf(server, { assistant: 'held', version })
    const left = new AbortController()
    const waits = client.open(client.sending({ text: 'one', contextId: 'one' }), { signal: left.signal })
    const { body } = await client.open(client.streaming({ text: 'two', contextId: 'two' }))
    const reader = body!.getReader()
    for (let text = ''; !text.includes('two:'); )
      text += new TextDecoder().decode((await reader.read()).value)
    await eventually(async () => (await server.engine.measure()).running === 2)
    left.abort(new Error('The client has left.'))
    await reader.cancel()
    open.open()
    expect((await waits).status).toBeGreaterThan(0)
    const { result: list } = await clientOf(server, { assistant: 'held' }).list({ includeArtifacts: true })
    expect(list.tasks).toHaveLength(2)
    await eventually(async () => {
      const { result } = await clientOf(server, { assistant: 'held' }).list({ includeArtifacts: true })
      return result.tasks.every((one: Json) => stateOf(one) === 'completed')
    })
    const ends = (await clientOf(server, { assistant: 'held' }).list({ includeArtifacts: true })).result.tasks
    expect(ends.map(answerOf).sort()).toEqual(['half one', 'half two'])
    expect(errors).toEqual([])
  })

  test('a body that stalls holds nothing, and ends with its client', async () => {
    const { server, written, errors } = serve({ echo: echo() })
    const client = clientOf(server, { assistant: 'echo', version })
    const left = new AbortController()
    const half = JSON.stringify(client.sending({ text: 'x' })).slice(0, 40)
    const stalled = new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode(half)) })
    const waits = client.open('', { body: stalled, signal: left.signal, duplex: 'half' } as RequestInit)
    expect(stateOf((await client.send({ text: 'other' })).result)).toBe('completed')
    const before = written()
    left.abort()
    expect((await waits).status).toBeLessThan(500)
    expect(written()).toBe(before)
    expect(errors).toEqual([])
  })
})

test('a file of 10 MiB is kept within the limit, and beyond it refused with nothing kept', async () => {
  const { server, written, errors } = serve({ takes: takes() }, { http: { maxBodyBytes: 15 * MiB } })
  const small = serve({ takes: takes() })
  const bytes = Buffer.alloc(10 * MiB, 7).toString('base64')
  for (const version of VERSIONS) {
    const client = clientOf(server, { assistant: 'takes', version })
    const body = JSON.stringify(
      client.sending({ parts: [{ kind: 'file', file: { bytes, mimeType: 'image/png' } }], historyLength: 0 }),
    )
    const { result: task } = await client.post(body)
    expect([stateOf(task), answerOf(task)]).toEqual(['completed', `${bytes.length} characters`])
    const { result: whole } = await client.get(task.id)
    expect(whole.history[0].parts[0].file.bytes === bytes).toBe(true)
    const refuse = clientOf(small.server, { assistant: 'takes', version })
    const before = [written(), small.written()]
    const heap = process.memoryUsage().arrayBuffers
    const tooLarge = [
      await refuse.post(body),
      await client.post(body.replace(bytes, bytes + bytes)),
      await client.post(new Uint8Array(16 * MiB)),
    ]
    for (const { status, error } of tooLarge) expect([status, error.code]).toEqual([413, -32600])
    expect(process.memoryUsage().arrayBuffers - heap).toBeLessThan(96 * MiB)
    const { error } = await client.post(body.replace(bytes, `${bytes.slice(0, -4)}!AA=`))
    expect(error.code).toBe(-32602)
    expect(error.message.length).toBeLessThan(300)
    expect([written(), small.written()]).toEqual(before)
  }
  expect([errors, small.errors]).toEqual([[], []])
})

test('a body without an end is read no further than the limit', async () => {
  const { server, written } = serve({ echo: echo() }, { http: { maxBodyBytes: MiB } })
  const client = clientOf(server, { assistant: 'echo' })
  let read = 0
  let isCancelled = false
  const endless = new ReadableStream({
    pull(to) {
      read += 65_536
      to.enqueue(new Uint8Array(65_536).fill(0x20))
    },
    cancel: () => void (isCancelled = true),
  })
  const response = await client.open('', { body: endless, duplex: 'half' } as RequestInit)
  const { error } = (await response.json()) as Json
  expect([response.status, error.code]).toEqual([413, -32600])
  expect(read).toBeLessThan(1.5 * MiB)
  expect([isCancelled, written()]).toEqual([true, 0])
})

test('what an agent throws or asks is text to a client, whatever it is', async () => {
  const values: unknown[] = [
    '\n\ndata: forged\n\n',
    7,
    null,
    { question: '\u2028' },
    [1],
    { message: '' },
    { text: 7 },
    true,
  ]
  for (const value of values) {
    const { server, errors } = serve({
      asks: defineAgent({ run: async ({ interrupt }) => void (await interrupt(value)) }),
    })
    for (const version of VERSIONS) {
      const client = clientOf(server, { assistant: 'asks', version })
      const { items, text } = await client.stream({ text: 'x' })
      const last = items.at(-1)
      expect(stateOf(last)).toBe('input-required')
      expect(textOf(last.status.message?.parts)).not.toBe('')
      expect(artifactsOf(items)[0].parts[0].data.value).toEqual(value)
      expect(eventsOf(text).every(({ data }) => data.jsonrpc === '2.0')).toBe(true)
      const { result: done } = await client.send({ text: 'ok', taskId: last.taskId })
      expect(turnsOf(done)).toEqual(['user: x', `agent: ${textOf(last.status.message.parts)}`, 'user: ok'])
    }
    expect(errors).toEqual([])
  }
})

/** Tells how long the file is that it was given. */
const takes = () =>
  defineAgent({
    async run({ messages, message }) {
      const { content } = messages.at(-1) as Json
      const { base64, data, source } = content[0]
      await message(`${String(base64 ?? data ?? source.data).length} characters`)
    },
  })
