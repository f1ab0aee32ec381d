import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { sha256 } from '../src/core/bytes.ts'

const expected = (text: string): Uint8Array => new Uint8Array(createHash('sha256').update(text).digest())

test('the digest of a text of any length is that of the platform', async () => {
  for (let length = 0; length <= 1_100; length++) {
    const text = 'a message \u0000'.repeat(101).slice(0, length)
    expect(await sha256(text)).toEqual(expected(text))
  }
})

test('a text is hashed as UTF-8', async () => {
  for (const text of ['é', '漢字', '🚀', '\ud800']) expect(await sha256(text)).toEqual(expected(text))
})

test('digests that are taken at once do not meet', async () => {
  const texts = Array.from({ length: 50 }, (_, at) => `${at}`.repeat(at * 30))
  expect(await Promise.all(texts.map(sha256))).toEqual(texts.map(expected))
})
