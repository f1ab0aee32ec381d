import { describe, expect, test, vi } from 'vitest'
import { empty, json, jsonList, knownBody } from '../../src/core/http/index.ts'

describe('json', () => {
  test('sends the value with its type and its length in bytes', async () => {
    const response = json({ word: 'žluťoučký 🐎' }, { status: 201, headers: { 'x-extra': '1' } })
    expect(response.status).toBe(201)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('x-extra')).toBe('1')
    const bytes = new Uint8Array(await response.arrayBuffer())
    expect(response.headers.get('content-length')).toBe(String(bytes.byteLength))
    expect(JSON.parse(new TextDecoder().decode(bytes))).toEqual({ word: 'žluťoučký 🐎' })
  })

  test('prefers given headers to its own', () => {
    const response = json({}, { headers: { 'content-type': 'application/problem+json' } })
    expect(response.headers.get('content-type')).toBe('application/problem+json')
  })

  test('sends undefined as null', async () => {
    expect(await json(undefined).json()).toBeNull()
  })
})

describe('jsonList', () => {
  const BIG = 'ž'.repeat(100_000)

  /** Items as they are asked for; `given` counts them, and `left` says whether the reader has left. */
  function source(count: number, item: (i: number) => unknown) {
    const counts = { given: 0, left: false }
    async function* items() {
      try {
        for (let i = 0; i < count; i++) {
          counts.given++
          yield item(i)
        }
      } finally {
        counts.left = true
      }
    }
    return { items: items(), counts }
  }

  test('a short list is a response of json', async () => {
    const response = await jsonList(source(2, (i) => ({ i })).items, vi.fn(), { headers: { 'x-extra': '1' } })
    expect(knownBody(response)).toBe('[{"i":0},{"i":1}]')
    expect(response.headers.get('x-extra')).toBe('1')
    expect(knownBody(await jsonList(source(0, String).items, vi.fn()))).toBe('[]')
  })

  test.each([1, 3, 7])('a list of %i long items arrives whole', async (count) => {
    const response = await jsonList(source(count, (i) => BIG + i).items, vi.fn(), { status: 201 })
    expect([response.status, response.headers.get('content-type')]).toEqual([201, 'application/json'])
    expect(await response.json()).toEqual(Array.from({ length: count }, (_, i) => BIG + i))
  })

  test('a long list of short items is sent in parts of many', async () => {
    const response = await jsonList(source(100_000, String).items, vi.fn())
    const reader = response.body!.getReader()
    let parts = 0
    let text = ''
    const decoder = new TextDecoder()
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      parts++
      text += decoder.decode(read.value, { stream: true })
    }
    expect(JSON.parse(text)).toHaveLength(100_000)
    expect(parts).toBeLessThan(20)
  })

  test('takes no more items than its reader does, and leaves with it', async () => {
    const { items, counts } = source(1_000, (i) => BIG + i)
    const response = await jsonList(items, vi.fn())
    const reader = response.body!.getReader()
    for (let read = 0; read < 5; read++) await reader.read()
    expect(counts.given).toBeLessThan(8)
    expect(counts.left).toBe(false)
    await reader.cancel()
    expect(counts.left).toBe(true)
  })

  test('rejects where the list fails before its first part is sent', async () => {
    const { items } = source(5, (i) => {
      if (i === 3) throw new Error('no more')
      return i
    })
    await expect(jsonList(items, vi.fn())).rejects.toThrow('no more')
  })

  test('a list that fails later is broken off, and told to the reporter', async () => {
    const report = vi.fn()
    const { items } = source(5, (i) => {
      if (i === 3) throw new Error('postgres://app:secret@db')
      return BIG
    })
    const response = await jsonList(items, report)
    await expect(response.text()).rejects.toThrow('interrupted')
    expect(report).toHaveBeenCalledExactlyOnceWith(new Error('postgres://app:secret@db'))
  })
})

describe('knownBody', () => {
  test('is the text of a json response', () => {
    expect(knownBody(json([1, 2]))).toBe('[1,2]')
  })

  test('is unknown for a response that was made otherwise, rebuilt or read', async () => {
    const read = json({})
    await read.text()
    const known = json({ secret: 1 })
    expect(knownBody(read)).toBeUndefined()
    expect(knownBody(new Response('{}'))).toBeUndefined()
    expect(knownBody(new Response('other', known))).toBeUndefined()
    expect(knownBody(known.clone())).toBeUndefined()
  })

  test('is known to another copy of this library', async () => {
    const copyUrl = '../../src/core/http/respond.ts?copy'
    const copy: typeof import('../../src/core/http/respond.ts') = await import(/* @vite-ignore */ copyUrl)
    expect(copy.knownBody).not.toBe(knownBody)
    expect(copy.knownBody(json('seen'))).toBe('"seen"')
  })
})

test('empty has no body', async () => {
  const response = empty(202, { 'x-extra': '1' })
  expect([response.status, response.headers.get('x-extra'), response.body]).toEqual([202, '1', null])
  expect(empty().status).toBe(204)
})
