import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ContentBlock, Message } from '../../src/messages/index.ts'
import {
  anthropicMessages,
  anthropicTarget,
  completionsTarget,
  type Format,
  generic,
  langchain,
  langchainTarget,
  openaiChat,
  openaiResponses,
  responsesTarget,
  type Target,
  vercel,
  vercelTarget,
} from '../../src/models/formats/index.ts'
import { platformTarget } from '../../src/models/tracing/convert/formats.ts'
import { anyUrl } from '../kit/arbitraries.ts'
import { args, name, text } from './arbitraries.ts'
import { frozen, viaJson } from './helpers.ts'

const textBlock = fc.record({ type: fc.constant('text' as const), text })
const reasoning = fc.record({ type: fc.constant('reasoning' as const), text })
const call = fc.record({ type: fc.constant('toolCall' as const), id: fc.uuid(), name, args })
const cutOff = fc.record({
  type: fc.constant('invalidToolCall' as const),
  id: fc.uuid(),
  name,
  args: fc.constantFrom('{"a":', '{"a":"b'),
  error: fc.constant('Cut off.'),
})

const source = (mimeType: string) =>
  fc.oneof(
    fc.record({ url: anyUrl(), mimeType: fc.constant(mimeType) }),
    fc.record({ base64: fc.constantFrom('AAAA', 'iVBORw=='), mimeType: fc.constant(mimeType) }),
  )
const image = source('image/png').map((source) => ({ type: 'image' as const, ...source }))
const file = source('application/pdf').map((source) => ({ type: 'file' as const, ...source }))
const audio = fc.constant({ type: 'audio' as const, base64: 'AAAA', mimeType: 'audio/wav' })
const video = anyUrl().map((url) => ({ type: 'video' as const, url, mimeType: 'video/mp4' }))

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
    const turn: ContentBlock[] = [thought, said, ...calls].filter((block) => block !== null)
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

type Side = 'media' | 'status'

/** The content of messages that every shape keeps: roles, and in order texts, thoughts, calls and media. */
const said = (messages: readonly Message[], { without }: { without: readonly Side[] }) =>
  messages.map(({ role, content, toolCallId, status }) => ({
    role,
    toolCallId,
    ...(!without.includes('status') && { failed: status === 'error' }),
    blocks: content.flatMap((block): unknown[] => {
      switch (block.type) {
        case 'text':
        case 'reasoning':
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

/** The targets, each with the format that reads it. Some shapes lack kinds of media, or the status of a tool. */
const targets: readonly [Target, Format, readonly Side[]][] = [
  [platformTarget, generic, []],
  [langchainTarget, langchain, []],
  [vercelTarget, vercel, []],
  [anthropicTarget, anthropicMessages, ['media']],
  [completionsTarget, openaiChat, ['media', 'status']],
  [responsesTarget, openaiResponses, ['media', 'status']],
]

test.each(targets)(
  'the input of a call that is written as $name reads as before',
  (target, format, without) => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const written = viaJson(target.writeInputs(frozen(messages)))
        const again = format.readRequest(frozen(written)).messages
        expect(said(again, { without })).toEqual(said(messages, { without }))
      }),
    )
  },
)

test.each(targets)('a response that is written as $name reads as before', (target, format, without) => {
  const answer = fc.record({
    role: fc.constant('assistant' as const),
    id: fc.constant('id-1'),
    content: fc
      .record({
        thought: fc.option(reasoning),
        said: fc.option(textBlock),
        calls: fc.array(fc.oneof(call, cutOff)),
      })
      .map(({ thought, said, calls }) => [thought, said, ...calls].filter((block) => block !== null)),
  })
  fc.assert(
    fc.property(answer, (message) => {
      const written = viaJson(target.writeOutputs([frozen(message)]))
      const { messages, issues } = format.readResponse(frozen(written))
      expect(issues).toBeUndefined()
      expect(said(messages, { without: [...without, 'media'] })).toEqual(
        said([message], { without: [...without, 'media'] }),
      )
      const cut = ({ content }: Message) =>
        content.flatMap((block) =>
          block.type === 'invalidToolCall' ? [[block.id, block.name, block.args]] : [],
        )
      expect(messages.flatMap(cut)).toEqual(cut(message))
    }),
  )
})

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
  for (const [target, format] of targets)
    expect(format.readRequest(target.writeInputs(pictures)).messages).toEqual(pictures)
})
