import { getEventListeners } from 'node:events'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  encodeSse,
  formatSse,
  SSE_HEADERS,
  type SseEvent,
  type StreamSource,
  sseResponse,
} from '../../src/core/http/index.ts'
import { turns } from '../kit/wait.ts'

const decoder = new TextDecoder()
const OPENING = ': ok\n'
const HEARTBEAT = ': heartbeat\n'

/** The frames that a client parses from bytes that arrive in these pieces. */
function parse(chunks: readonly Uint8Array[]) {
  const events: EventSourceMessage[] = []
  const comments: string[] = []
  const retries: number[] = []
  const parser = createParser({
    onEvent: (event) => events.push(event),
    onComment: (comment) => comments.push(comment),
    onRetry: (retry) => retries.push(retry),
    onError: (error) => expect.unreachable(error.message),
  })
  const utf8 = new TextDecoder()
  for (const chunk of chunks) parser.feed(utf8.decode(chunk, { stream: true }))
  return { events, comments, retries }
}

describe('encodeSse', () => {
  test('writes the fields of a frame', () => {
    const frame = formatSse({ id: '7-1', event: 'messages', data: '{"a":1}', retry: 250 })
    expect(frame).toBe('id: 7-1\nevent: messages\nretry: 250\ndata: {"a":1}\n\n')
    expect(decoder.decode(encodeSse({ data: 'é' }))).toBe('data: é\n\n')
  })

  test('comes back from a parser as it went in, however its bytes are cut', () => {
    const nasty = fc
      .array(fc.constantFrom('\r', '\n', '\r\n', ' ', ':', 'data: ', 'id: 1', '\0', '\uFEFF', 'é', '🐎', 'x'))
      .map((parts) => parts.join(''))
    const text = fc.oneof(nasty, fc.string({ unit: 'grapheme' }))
    const id = text.map((value) => value.replace(/[\r\n\0]/g, ''))
    const event: fc.Arbitrary<SseEvent> = fc.record(
      { id, event: text, data: text, retry: fc.nat() },
      { requiredKeys: ['data'] },
    )
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 5 }),
        fc.array(fc.nat(400), { maxLength: 20 }),
        (sent, places) => {
          const bytes = new TextEncoder().encode(sent.map(formatSse).join(''))
          const ends = [...places.sort((a, b) => a - b), bytes.length]
          const chunks = ends.map((end, index) => bytes.slice(ends[index - 1] ?? 0, end))
          const { events, retries } = parse(chunks)
          expect(events.map(({ data }) => data)).toEqual(
            sent.map(({ data }) => data.replace(/\r\n|\r/g, '\n')),
          )
          expect(events.map((got) => got.event || undefined)).toEqual(
            sent.map((one) => one.event?.replace(/[\r\n]/g, '') || undefined),
          )
          expect(events.map((got) => got.id || undefined)).toEqual(sent.map((one) => one.id || undefined))
          expect(retries).toEqual(sent.flatMap(({ retry }) => retry ?? []))
        },
      ),
      { numRuns: 1_000 },
    )
  })

  test.each(['1\n2', '1\r2', '1\0'])('refuses the id %j', (id) => {
    expect(() => encodeSse({ id, data: '' })).toThrow(TypeError)
  })

  test.each([1.5, -1, Number.NaN, Number.POSITIVE_INFINITY])('refuses retry %d', (retry) => {
    expect(() => encodeSse({ retry, data: '' })).toThrow(TypeError)
  })
})

interface Answer {
  resolve(bytes: Uint8Array | undefined): void
  reject(reason: Error): void
}

/** A source that a test feeds by hand. */
function manualSource() {
  const asked: Answer[] = []
  const source = {
    next: vi.fn(
      () => new Promise<Uint8Array | undefined>((resolve, reject) => void asked.push({ resolve, reject })),
    ),
    cancel: vi.fn(),
  } satisfies StreamSource
  return { source, asked }
}

function listSource(...texts: readonly string[]) {
  const rest = texts.map((text) => new TextEncoder().encode(text))
  return { next: vi.fn(async () => rest.shift()), cancel: vi.fn() } satisfies StreamSource
}

/** A ticker that beats when the test says so. */
function manualTicker() {
  const beats = new Set<() => unknown>()
  return {
    add(beat: () => unknown) {
      beats.add(beat)
      return () => void beats.delete(beat)
    },
    tick() {
      for (const beat of beats) beat()
    },
    get size() {
      return beats.size
    },
  }
}

function readerOf(response: Response) {
  const reader = response.body!.getReader()
  const read = async () => {
    const { done, value } = await reader.read()
    return done ? undefined : decoder.decode(value)
  }
  return { read, cancel: () => reader.cancel() }
}

describe('sseResponse', () => {
  test('has the headers of an event stream and no hop-by-hop header', () => {
    const response = sseResponse(listSource())
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toEqual(SSE_HEADERS)
    expect(SSE_HEADERS['cache-control']).toBe('no-cache, no-transform')
  })

  test('has a comment ready before the source gives anything', async () => {
    const { source } = manualSource()
    const { read } = readerOf(sseResponse(source))
    expect(await read()).toBe(OPENING)
    expect(source.next).not.toHaveBeenCalled()
  })

  test('asks the source once for each chunk that a reader waits for', async () => {
    const source = listSource('a', 'b', 'c', 'd')
    const { read, cancel } = readerOf(sseResponse(source))
    await read()
    for (const [index, text] of ['a', 'b', 'c'].entries()) {
      expect(source.next).toHaveBeenCalledTimes(index)
      expect(await read()).toBe(text)
    }
    await turns()
    expect(source.next).toHaveBeenCalledTimes(3)
    await cancel()
  })

  test('passes the bytes on without a copy', async () => {
    const shared = encodeSse({ data: 'x' })
    const reader = sseResponse({ next: async () => shared, cancel() {} }).body!.getReader()
    await reader.read()
    expect((await reader.read()).value).toBe(shared)
    await reader.cancel()
  })

  test('ends when the source does', async () => {
    const source = listSource('a')
    const ticker = manualTicker()
    const { read } = readerOf(sseResponse(source, { ticker }))
    expect([await read(), await read(), await read()]).toEqual([OPENING, 'a', undefined])
    expect(source.cancel).toHaveBeenCalledOnce()
    expect(ticker.size).toBe(0)
  })

  test.each([
    ['rejects', () => Promise.reject(new Error('lost'))],
    [
      'throws',
      () => {
        throw new Error('lost')
      },
    ],
  ])('breaks without a word when the source %s', async (_how, next) => {
    const cancel = vi.fn()
    const onError = vi.fn()
    const { read } = readerOf(sseResponse({ next, cancel }, { onError }))
    await read()
    // Only the server learns the reason.
    await expect(read()).rejects.toThrow('interrupted')
    expect(onError.mock.calls).toEqual([[new Error('lost')]])
    expect(cancel).toHaveBeenCalledOnce()
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('reporter')
      },
    ],
    ['rejects', () => Promise.reject(new Error('reporter'))],
  ])('breaks in the same way when the reporter of its failure %s', async (_how, onError) => {
    const cancel = vi.fn()
    const { read } = readerOf(
      sseResponse({ next: () => Promise.reject(new Error('lost')), cancel }, { onError }),
    )
    await read()
    await expect(read()).rejects.toThrow('interrupted')
    expect(cancel).toHaveBeenCalledOnce()
  })

  test('cancels the source when the reader cancels, and only once', async () => {
    const { source, asked } = manualSource()
    const ticker = manualTicker()
    const client = new AbortController()
    const { read, cancel } = readerOf(sseResponse(source, { ticker, signal: client.signal }))
    await read()
    const pending = read()
    await expect.poll(() => asked).toHaveLength(1)
    await cancel()
    await cancel()
    client.abort()
    ticker.tick()
    asked[0]!.resolve(new Uint8Array(1))
    expect(await pending).toBeUndefined()
    expect(source.cancel).toHaveBeenCalledOnce()
    expect(ticker.size).toBe(0)
    expect(getEventListeners(client.signal, 'abort')).toEqual([])
  })

  test('breaks instead of ending when the signal fires', async () => {
    const { source, asked } = manualSource()
    const client = new AbortController()
    const { read } = readerOf(sseResponse(source, { signal: client.signal }))
    await read()
    const pending = read()
    await expect.poll(() => asked).toHaveLength(1)
    client.abort(new Error('gone'))
    asked[0]!.reject(new Error('too late to matter'))
    await expect(pending).rejects.toThrow('gone')
    expect(source.cancel).toHaveBeenCalledOnce()
  })

  test('starts nothing for a client that is already gone', async () => {
    const { source } = manualSource()
    const ticker = manualTicker()
    const { read } = readerOf(sseResponse(source, { ticker, signal: AbortSignal.abort(new Error('gone')) }))
    await expect(read()).rejects.toThrow('gone')
    expect(source.next).not.toHaveBeenCalled()
    expect(source.cancel).toHaveBeenCalledOnce()
    expect(ticker.size).toBe(0)
  })

  test('breaks with the error of a source that cannot be cancelled', async () => {
    const client = new AbortController()
    const cancel = () => {
      throw new Error('stuck')
    }
    const { read } = readerOf(sseResponse({ next: async () => undefined, cancel }, { signal: client.signal }))
    client.abort()
    await expect(read()).rejects.toThrow('stuck')
  })
})

describe('heartbeats', () => {
  test('are sent to a reader that waits', async () => {
    const { source, asked } = manualSource()
    const ticker = manualTicker()
    const { read } = readerOf(sseResponse(source, { ticker }))
    await read()
    for (let beat = 0; beat < 3; beat++) {
      const pending = read()
      await expect.poll(() => asked).toHaveLength(1)
      ticker.tick()
      expect(await pending).toBe(HEARTBEAT)
    }
    const pending = read()
    asked[0]!.resolve(new TextEncoder().encode('event'))
    expect(await pending).toBe('event')
  })

  test('do not pile up before a reader that has stalled', async () => {
    const ticker = manualTicker()
    const { read } = readerOf(sseResponse(listSource('a', 'b'), { ticker }))
    expect([await read(), await read()]).toEqual([OPENING, 'a'])
    for (let beat = 0; beat < 5; beat++) ticker.tick()
    expect([await read(), await read()]).toEqual([HEARTBEAT, 'b'])
  })

  test('do not keep a response alive that nobody reads', async () => {
    const ticker = manualTicker()
    const { read } = readerOf(sseResponse(listSource('a'), { ticker }))
    expect(ticker.size).toBe(0)
    await read()
    expect(ticker.size).toBe(0)
    await read()
    expect(ticker.size).toBe(1)
  })

  describe('under fake timers', () => {
    beforeEach(() => void vi.useFakeTimers())
    afterEach(() => void vi.useRealTimers())

    test('come every 5 seconds, from one timer for all streams', async () => {
      const readers = Array.from({ length: 100 }, () => readerOf(sseResponse(manualSource().source)))
      await Promise.all(readers.map(({ read }) => read()))
      const pending = readers.map(({ read }) => read())
      await vi.advanceTimersByTimeAsync(0)
      expect(vi.getTimerCount()).toBe(1)
      await vi.advanceTimersByTimeAsync(4_999)
      expect(await Promise.race([pending[0], 'nothing yet'])).toBe('nothing yet')
      await vi.advanceTimersByTimeAsync(1)
      expect(new Set(await Promise.all(pending))).toEqual(new Set([HEARTBEAT]))
      await Promise.all(readers.map(({ cancel }) => cancel()))
      expect(vi.getTimerCount()).toBe(0)
    })
  })
})

describe('a stream under any order of events', () => {
  const step = fc.constantFrom('read', 'give', 'end', 'fail', 'beat', 'cancel', 'abort', 'turn')

  test('loses and repeats no chunk, cancels its source exactly once, and gives nothing afterwards', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { source, asked } = manualSource()
        const ticker = manualTicker()
        const client = new AbortController()
        const response = sseResponse(source, { ticker, signal: client.signal })
        const reader = response.body!.getReader()
        const got: string[] = []
        const reads: Promise<void>[] = []
        const given: string[] = []
        let over = false
        const settle = (how: 'give' | 'end' | 'fail') => {
          const answer = asked[given.length]
          if (answer === undefined || over) return
          const text = `chunk ${given.length}`
          if (how === 'give') given.push(text)
          else over = true
          if (how === 'give') answer.resolve(new TextEncoder().encode(text))
          if (how === 'end') answer.resolve(undefined)
          if (how === 'fail') answer.reject(new Error('source'))
        }
        let gone = false
        for (const action of steps) {
          if (action === 'read') {
            const read = reader.read().then(
              ({ done, value }) => void (done || got.push(decoder.decode(value))),
              () => {},
            )
            reads.push(read)
          } else if (action === 'beat') ticker.tick()
          else if (action === 'cancel') await reader.cancel().catch(() => {})
          else if (action === 'abort') client.abort()
          else if (action === 'turn') await turns()
          else settle(action)
          gone ||= action === 'cancel' || action === 'abort'
        }
        await turns()
        const chunks = got.filter((text) => text !== OPENING && text !== HEARTBEAT)
        expect(chunks).toEqual(given.slice(0, chunks.length))
        expect(got.indexOf(OPENING)).toBeLessThan(1)
        expect(source.cancel).toHaveBeenCalledTimes(gone || over ? 1 : 0)
        expect(ticker.size).toBe(gone || over || asked.length === 0 ? 0 : 1)
        expect(asked.length).toBeLessThanOrEqual(reads.length)
        await reader.cancel().catch(() => {})
        await Promise.all(reads)
        expect(source.cancel).toHaveBeenCalledOnce()
        expect(getEventListeners(client.signal, 'abort')).toEqual([])
      }),
      { numRuns: 500 },
    )
  })
})
