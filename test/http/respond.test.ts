import { describe, expect, test } from 'vitest'
import { empty, json, knownBody } from '../../src/http/index.ts'

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
    const copyUrl = '../../src/http/respond.ts?copy'
    const copy: typeof import('../../src/http/respond.ts') = await import(/* @vite-ignore */ copyUrl)
    expect(copy.knownBody).not.toBe(knownBody)
    expect(copy.knownBody(json('seen'))).toBe('"seen"')
  })
})

test('empty has no body', async () => {
  const response = empty(202, { 'x-extra': '1' })
  expect([response.status, response.headers.get('x-extra'), response.body]).toEqual([202, '1', null])
  expect(empty().status).toBe(204)
})
