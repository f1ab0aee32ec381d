import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { HttpError, readJson } from '../../src/core/http/index.ts'

const encoder = new TextEncoder()

function streamOf(chunks: readonly Uint8Array[], onCancel?: () => void): ReadableStream<Uint8Array> {
  const rest = [...chunks]
  return new ReadableStream(
    {
      pull(controller) {
        const chunk = rest.shift()
        if (chunk === undefined) controller.close()
        else controller.enqueue(chunk)
      },
      cancel: onCancel,
    },
    { highWaterMark: 0 },
  )
}

function post(body: BodyInit | null, headers: Record<string, string> = {}): Request {
  const init = { method: 'POST', body, headers, duplex: 'half' }
  return new Request('http://host/', init)
}

/** Cuts bytes at the given fractions. */
function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const places = [0, ...at.map((part) => Math.floor(part * bytes.length)).sort((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, index) => bytes.slice(places[index], end))
}

const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 })

describe('readJson', () => {
  test('reads any JSON value, however its bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 5 }), fc.boolean(), cuts, async (value, bom, at) => {
        const text = (bom ? '\uFEFF' : '') + JSON.stringify(value)
        const read = await readJson(post(streamOf(cut(encoder.encode(text), at))))
        expect(read).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  test('gives a value or its own error for any bytes', async () => {
    const codes = ['payload_too_large', 'invalid_encoding', 'invalid_json', 'too_deep']
    const text = fc
      .array(fc.constantFrom('[', ']', '{', '}', '"', '\\', ',', ':', '1', 'é', ' '))
      .map((parts) => parts.join(''))
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 64 }),
      text.map((string) => encoder.encode(string)),
    )
    await fc.assert(
      fc.asyncProperty(bytes, cuts, async (body, at) => {
        try {
          await readJson(post(streamOf(cut(body, at))), { maxBytes: 32, maxDepth: 2 })
        } catch (error) {
          if (!(error instanceof HttpError)) throw error
          expect(codes).toContain(error.code)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('takes an empty body as undefined', async () => {
    expect(await readJson(post(null))).toBeUndefined()
    expect(await readJson(post(''))).toBeUndefined()
    expect(await readJson(post(streamOf([])))).toBeUndefined()
    expect(await readJson(new Request('http://host/'))).toBeUndefined()
  })

  test.each([
    ['invalid_json', encoder.encode('{"a":')],
    ['invalid_json', encoder.encode('  ')],
    ['invalid_encoding', Uint8Array.of(0x22, 0xff, 0x22)],
    ['invalid_encoding', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
    ['invalid_encoding', Uint8Array.of(0x22, 0xe2, 0x82)],
  ])('refuses with 400 %s', async (code, bytes) => {
    await expect(readJson(post(bytes))).rejects.toMatchObject({ status: 400, code })
  })

  test('does not show the body in the message of its error', async () => {
    const error = await readJson(post('{"password":"hunter2"')).catch((reason) => reason)
    expect(error).toBeInstanceOf(HttpError)
    expect(String(error)).not.toContain('hunter2')
  })
})

describe('the byte limit', () => {
  test('is exact', async () => {
    expect(await readJson(post('"123456"'), { maxBytes: 8 })).toBe('123456')
    await expect(readJson(post('"1234567"'), { maxBytes: 8 })).rejects.toMatchObject({ status: 413 })
    await expect(readJson(post('"éééé"'), { maxBytes: 8 })).rejects.toMatchObject({ status: 413 })
  })

  test('is 4 MiB by default', async () => {
    const text = JSON.stringify('x'.repeat(4 * 1024 * 1024 - 2))
    expect(await readJson(post(text))).toHaveLength(4 * 1024 * 1024 - 2)
    await expect(readJson(post(`${text} `))).rejects.toMatchObject({ code: 'payload_too_large' })
  })

  test('stops an endless body', async () => {
    const cancelled = vi.fn()
    let pulls = 0
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulls++
        controller.enqueue(new Uint8Array(1_000))
      },
      cancel: cancelled,
    })
    await expect(readJson(post(endless), { maxBytes: 10_000 })).rejects.toMatchObject({ status: 413 })
    expect(cancelled).toHaveBeenCalledOnce()
    expect(pulls).toBeLessThan(15)
  })

  test('is checked against content-length before anything is read', async () => {
    const cancelled = vi.fn()
    const pull = vi.fn()
    const body = new ReadableStream<Uint8Array>({ pull, cancel: cancelled }, { highWaterMark: 0 })
    await expect(readJson(post(body, { 'content-length': '5000000' }))).rejects.toMatchObject({ status: 413 })
    expect(pull).not.toHaveBeenCalled()
    expect(cancelled).toHaveBeenCalledOnce()
  })

  test('does not trust content-length', async () => {
    const body = streamOf([encoder.encode('"0123'), encoder.encode('456789"')])
    await expect(readJson(post(body, { 'content-length': '4' }), { maxBytes: 8 })).rejects.toMatchObject({
      status: 413,
    })
  })

  test('holds for chunks that are not bytes', async () => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue('"text"')
        controller.close()
      },
    })
    await expect(readJson(post(body))).rejects.toBeInstanceOf(HttpError)
  })
})

describe('the depth limit', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

  test('is exact, and 100 by default', async () => {
    await expect(readJson(post(nested(100)))).resolves.toBeDefined()
    await expect(readJson(post(nested(101)))).rejects.toMatchObject({ status: 400, code: 'too_deep' })
    await expect(readJson(post('1'), { maxDepth: 0 })).resolves.toBe(1)
    await expect(readJson(post('[]'), { maxDepth: 0 })).rejects.toMatchObject({ code: 'too_deep' })
  })

  test('holds for a million brackets', async () => {
    await expect(readJson(post(nested(1_000_000)))).rejects.toMatchObject({ code: 'too_deep' })
    await expect(readJson(post('{"a":'.repeat(500_000)))).rejects.toMatchObject({ code: 'too_deep' })
  })

  test('counts the same for text and for a parsed value as a plain recursion', async () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0
    // These strings are full of the characters that the scan looks for.
    const string = fc.array(fc.constantFrom('[', ']', '{', '}', '"', '\\')).map((parts) => parts.join(''))
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 6 },
        string,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(string, tie('tree'), { maxKeys: 3 }),
      ),
    }))
    await fc.assert(
      fc.asyncProperty(tree, fc.nat(6), async (value, maxDepth) => {
        const text = JSON.stringify(value)
        const parsed = JSON.parse(text)
        const attempts = [
          readJson(post(text), { maxDepth }),
          readJson(post(null), { maxDepth, parsedBody: parsed }),
        ]
        for (const attempt of attempts) {
          if (depthOf(parsed) > maxDepth) await expect(attempt).rejects.toMatchObject({ code: 'too_deep' })
          else await expect(attempt).resolves.toEqual(parsed)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('refuses a parsed value that contains itself', async () => {
    const self: Record<string, unknown> = {}
    self.a = self
    self.b = [self, self]
    await expect(readJson(post(null), { parsedBody: self })).rejects.toMatchObject({ code: 'too_deep' })
  })
})

describe('parsedBody', () => {
  test('is taken as it is, and the request is not read', async () => {
    const request = post('{"from":"wire"}')
    const parsedBody = { from: 'host' }
    expect(await readJson(request, { parsedBody })).toBe(parsedBody)
    expect(await readJson(request, { parsedBody: null })).toBeNull()
    expect(request.bodyUsed).toBe(false)
  })

  test('is required when the body was read before', async () => {
    const request = post('{}')
    await request.text()
    await expect(readJson(request)).rejects.toMatchObject({
      status: 500,
      code: 'body_used',
      message: expect.stringContaining('parsedBody'),
    })
    const locked = post('{}')
    locked.body?.getReader()
    await expect(readJson(locked)).rejects.toMatchObject({ code: 'body_used' })
  })
})

describe('a client that leaves', () => {
  const stalled = (onCancel?: () => void) => new ReadableStream<Uint8Array>({ cancel: onCancel })

  test('rejects a pending read and cancels the body', async () => {
    const cancelled = vi.fn()
    const client = new AbortController()
    const reading = readJson(post(stalled(cancelled)), { signal: client.signal })
    client.abort(new Error('left'))
    await expect(reading).rejects.toMatchObject({
      status: 400,
      code: 'incomplete_body',
      cause: { message: 'left' },
    })
    expect(cancelled).toHaveBeenCalledOnce()
  })

  test('rejects at once when the client left before', async () => {
    await expect(readJson(post(stalled()), { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'incomplete_body',
    })
  })

  test('is seen by the signal of the request as well', async () => {
    const client = new AbortController()
    const init = { method: 'POST', body: stalled(), signal: client.signal, duplex: 'half' }
    const request = new Request('http://host/', init)
    const reading = readJson(request)
    client.abort()
    await expect(reading).rejects.toMatchObject({ code: 'incomplete_body' })
  })

  test('may break the stream', async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('reset')),
    })
    await expect(readJson(post(broken))).rejects.toMatchObject({ status: 400, code: 'incomplete_body' })
  })

  test('leaves the reason to a bridge that knows it', async () => {
    const late = new HttpError(408, 'timeout', 'Too slow.')
    const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(late) })
    await expect(readJson(post(broken))).rejects.toBe(late)
  })

  test('leaves no listener behind', async () => {
    const { signal } = new AbortController()
    const remove = vi.spyOn(signal, 'removeEventListener')
    const add = vi.spyOn(signal, 'addEventListener')
    await readJson(post('1'), { signal })
    await readJson(post('{'), { signal }).catch(() => {})
    expect(add).toHaveBeenCalledTimes(2)
    expect(remove.mock.calls).toEqual(add.mock.calls)
  })
})
