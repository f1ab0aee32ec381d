import fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinBase64 } from '../../../src/models/formats/reading/base64.ts'

const bytes = fc.uint8Array({ maxLength: 12 }).map((array) => String.fromCharCode(...array))

function join(pieces: readonly string[]): string {
  let [all, tail] = ['', '']
  for (const piece of pieces) {
    const [base64, rest] = joinBase64(tail, piece)
    expect(base64.length % 4).toBe(0)
    expect(base64).not.toContain('=')
    all += base64
    tail = rest
  }
  return all + tail
}

test('pieces that were encoded alone join to the base64 of all bytes', () => {
  fc.assert(
    fc.property(fc.array(bytes), (parts) => {
      expect(join(parts.map((part) => btoa(part)))).toBe(btoa(parts.join('')))
    }),
  )
})

test('one encoding that was cut anywhere joins to itself', () => {
  fc.assert(
    fc.property(bytes, fc.array(fc.nat({ max: 5 })), (value, lengths) => {
      const base64 = btoa(value)
      const pieces = []
      let at = 0
      for (const length of lengths) {
        pieces.push(base64.slice(at, at + length))
        at += length
      }
      expect(join([...pieces, base64.slice(at)])).toBe(base64)
    }),
  )
})

test('text that is no base64 is only concatenated', () => {
  expect(joinBase64('b#==', 'YQ==')).toEqual(['b#==', 'YQ=='])
})
