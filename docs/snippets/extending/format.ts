import assert from 'node:assert/strict'

// #region format
import { type Format, generic } from 'agentwire/formats'

interface Reply {
  readonly reply: string
  readonly tokens?: { readonly in: number; readonly out: number }
}

const toMessage = ({ reply, tokens }: Reply) => ({
  role: 'assistant',
  content: reply,
  usage_metadata: tokens && { input_tokens: tokens.in, output_tokens: tokens.out },
})

export const ours: Format = {
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
// #endregion

const { messages } = ours.readResponse({ reply: 'Hi', tokens: { in: 1, out: 2 } })
assert.deepEqual(messages[0]?.content, [{ type: 'text', text: 'Hi' }])
