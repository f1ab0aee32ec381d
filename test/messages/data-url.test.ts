import { expect, test } from 'vitest'
import { userMessage } from '../../src/faces/ai-sdk/intent.ts'
import { contentOf } from '../../src/faces/openai/content.ts'
import { splitDataUrl } from '../../src/messages/content.ts'
import { decodeBlock } from '../../src/messages/index.ts'
import { openaiChat } from '../../src/models/formats/index.ts'

/** A page or a server may be sent any of them, so that reading one must not hold up the others. */
const LARGE = [
  `data:${'a'.repeat(4_000_000)}`,
  `data:${';base64'.repeat(500_000)}`,
  `data:image/png${';a=b'.repeat(1_000_000)}`,
  `data:image/png;${',;base64'.repeat(500_000)}`,
  `data:${';base64;,'.repeat(400_000)}`,
]

/** Everything that splits data URLs: blocks of the wire, parts of each door, and parts of providers. */
const READERS: Readonly<Record<string, (url: string) => unknown>> = {
  'a block of the wire': (url) => decodeBlock({ type: 'image_url', image_url: { url } }),
  'a part of the OpenAI door': (url) => contentOf([{ type: 'image_url', image_url: { url } }]),
  'a file of a page': (url) =>
    userMessage({ id: 'u', role: 'user', parts: [{ type: 'file', url, mediaType: 'image/png' }] }),
  'a part of chat completions': (url) =>
    openaiChat.readRequest({
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    }),
}

test.each(Object.keys(READERS))(
  '%s with a large data URL without base64 is read in time linear in its length',
  { timeout: 60_000 },
  (name) => {
    for (const url of LARGE) READERS[name]!(url)
  },
)

test.each(Object.keys(READERS))('%s has the bytes of a data URL, whatever its parameters', (name) => {
  for (const url of ['data:image/png;base64,AAAA', 'data:image/png;name=a.png;base64,AAAA'])
    expect(JSON.stringify(READERS[name]!(url))).toMatch(/"(data|base64)":"AAAA"/)
})

test('a data URL ends its head at the first comma, as browsers read it', () => {
  expect(splitDataUrl('DATA:image/png;BASE64,AAAA')).toEqual({ mimeType: 'image/png', base64: 'AAAA' })
  expect(splitDataUrl('data:;base64,AAAA')).toEqual({ mimeType: undefined, base64: 'AAAA' })
  for (const other of ['data:text/plain,a;base64,b', 'data:,', 'data:', 'https://a/;base64,b', undefined])
    expect(splitDataUrl(other)).toBeUndefined()
})
