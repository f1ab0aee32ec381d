import { expect, test } from 'vitest'
import { detectFormat, type Format, formats, generic } from '../../src/models/formats/index.ts'
import { streamed } from './helpers.ts'

interface Reply {
  readonly reply: string
  readonly tokens?: { readonly in: number; readonly out: number }
}

const toMessage = ({ reply, tokens }: Reply) => ({
  role: 'assistant',
  content: reply,
  usage_metadata: tokens && { input_tokens: tokens.in, output_tokens: tokens.out },
})

/** The format of the example in docs/formats.md. */
const ours: Format = {
  ...generic,
  name: 'ours',
  provider: 'our-company',
  detect: (value) =>
    typeof value === 'object' && value !== null && 'reply' in value ? 'response' : undefined,
  readResponse: (response) => generic.readResponse(toMessage(response as Reply)),
  readStream() {
    const reader = generic.readStream()
    return { push: (chunk) => reader.push(toMessage(chunk as Reply)), end: reader.end }
  },
}

test('a custom format is detected, and reads whole responses and streams alike', () => {
  const whole = { reply: 'Hello', tokens: { in: 3, out: 2 } }
  expect(detectFormat([ours, ...formats], [whole])).toBe(ours)
  const expected = {
    messages: [
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'Hello' }],
        usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
      },
    ],
  }
  expect(ours.readResponse(whole)).toEqual(expected)
  expect(streamed(ours, [{ reply: 'Hel' }, { reply: 'lo' }, { ...whole, reply: '' }])).toEqual(expected)
})
