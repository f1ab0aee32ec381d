import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ContentBlock, Message } from '../../../src/messages/index.ts'
import {
  aiSdk,
  anthropic,
  bedrock,
  cohere,
  gemini,
  type ModelApi,
  openai,
  openaiResponses,
} from '../../../src/models/formats/models.ts'
import { anyUrl } from '../../kit/arbitraries.ts'
import { text as anyText, args, name } from '../arbitraries.ts'
import { frozen, viaJson } from '../helpers.ts'

/** Text that every API takes: not empty, and without white space at its ends. */
const text = anyText.map((text) => `a${text}b`)
const textBlock = fc.record({ type: fc.constant('text' as const), text })
const reasoning = fc.record({ type: fc.constant('reasoning' as const), text })
const call = fc.record({ type: fc.constant('toolCall' as const), id: fc.uuid(), name, args })
const source = (mimeType: string) =>
  fc.oneof(
    fc.record({ url: anyUrl(['https']), mimeType: fc.constant(mimeType) }),
    fc.record({ base64: fc.constantFrom('AAAA', 'AAAAAA=='), mimeType: fc.constant(mimeType) }),
  )
const image = source('image/png').map((source) => ({ type: 'image' as const, ...source }))
const file = source('application/pdf').map((source) => ({ type: 'file' as const, ...source }))
const audio = fc.constant({ type: 'audio' as const, base64: 'AAAA', mimeType: 'audio/wav' })
const video = anyUrl(['https']).map((url) => ({ type: 'video' as const, url, mimeType: 'video/mp4' }))

/** A conversation in which every call is answered. */
const conversation: fc.Arbitrary<Message[]> = fc
  .record({
    system: fc.option(text),
    asked: fc.array(fc.oneof(textBlock, image, file, audio, video), { minLength: 1, maxLength: 3 }),
    thought: fc.option(reasoning),
    said: fc.option(textBlock),
    calls: fc.array(call, { maxLength: 3 }),
    answers: fc.infiniteStream(fc.record({ text, failed: fc.boolean() })),
    last: textBlock,
  })
  .map(({ system, asked, thought, said, calls, answers, last }) => {
    const answer = said ?? (calls.length === 0 && thought ? last : null)
    const turn: ContentBlock[] = [thought, answer, ...calls].filter((block) => block !== null)
    return [
      ...(system === null
        ? []
        : [{ role: 'system' as const, content: [{ type: 'text' as const, text: system }] }]),
      { role: 'user', content: asked },
      ...(turn.length > 0 ? [{ role: 'assistant' as const, content: turn }] : []),
      ...calls.map(({ id, name }): Message => {
        const { text, failed } = answers.next().value
        const status = failed ? 'error' : 'success'
        return { role: 'tool', name, toolCallId: id, status, content: [{ type: 'text', text }] }
      }),
      // Some shapes merge two consecutive messages of one role.
      ...(turn.length > 0 && calls.length === 0 ? [{ role: 'user' as const, content: [last] }] : []),
      { role: 'assistant', content: [last] },
    ]
  })

type Side = 'media' | 'status' | 'thoughts'

/** The message with a text in place of media, for shapes that lack kinds of media. */
const inWords = ({ content, ...about }: Message): Message => ({
  ...about,
  content: content.map((block) =>
    /^(image|file|audio|video)$/.test(block.type) ? { type: 'text', text: block.type } : block,
  ),
})

/** The content of messages that every shape keeps: roles, and in order texts, thoughts, calls and media. */
const said = (messages: readonly Message[], { without }: { without: readonly Side[] }) =>
  messages.map(({ role, content, toolCallId, status }) => ({
    role,
    toolCallId,
    ...(!without.includes('status') && { failed: status === 'error' }),
    blocks: content.flatMap((block): unknown[] => {
      switch (block.type) {
        case 'reasoning':
          return without.includes('thoughts') ? [] : [{ type: block.type, text: block.text }]
        case 'text':
          return [{ type: block.type, text: block.text }]
        case 'toolCall':
          return [{ type: block.type, id: block.id, name: block.name, args: block.args }]
        case 'image':
        case 'file':
        case 'audio':
        case 'video': {
          const { type, url, base64 } = block
          return without.includes('media') ? [] : [{ type, url, base64 }]
        }
        default:
          return without.includes('media') ? [] : [block]
      }
    }),
  }))

/** Some APIs lack kinds of media or the status of a tool, and some want no thought without their proof. */
const apis: readonly [name: string, ModelApi, readonly Side[]][] = [
  ['aiSdk', aiSdk, []],
  ['anthropic', anthropic, ['media', 'thoughts']],
  ['openai', openai, ['media', 'status', 'thoughts']],
  ['openaiResponses', openaiResponses, ['media', 'status', 'thoughts']],
  ['gemini', gemini, ['media', 'thoughts']],
  ['bedrock', bedrock, ['media', 'thoughts']],
  ['cohere', cohere, ['media', 'status']],
]

test.each(apis)(
  'a request that is written for %s reads as before',
  (_, { format, writeRequest }, without) => {
    fc.assert(
      fc.property(conversation, (given) => {
        const messages = without.includes('media') ? given.map(inWords) : given
        const written = viaJson(writeRequest(frozen(messages), { media: ['audio', 'video', 'file'] }))
        const again = format.readRequest(written).messages
        expect(said(again, { without })).toEqual(said(messages, { without }))
      }),
    )
  },
)

test('the media that a shape can express read as before', () => {
  const pictures: Message[] = [
    {
      role: 'user',
      content: [
        { type: 'image', url: 'https://a.example/1.png' },
        { type: 'image', base64: 'AAAA', mimeType: 'image/png' },
        { type: 'file', base64: 'AAAA', mimeType: 'application/pdf' },
      ],
    },
  ]
  const source = (messages: readonly Message[]) =>
    messages.map(({ role, content }) => [
      role,
      content.map((block) => ({ ...block, mimeType: undefined, extras: undefined })),
    ])
  // Bedrock takes no addresses of pictures, and Cohere no documents.
  for (const [, { format, writeRequest }] of apis.filter(([name]) => !/^(bedrock|cohere)/.test(name)))
    expect(source(format.readRequest(writeRequest(pictures)).messages)).toEqual(source(pictures))
})
