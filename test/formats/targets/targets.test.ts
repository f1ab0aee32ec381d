import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ContentBlock, Message } from '../../../src/messages/index.ts'
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
} from '../../../src/models/formats/index.ts'
import { convertModelCall } from '../../../src/models/tracing/convert/convert.ts'
import { platformTarget } from '../../../src/models/tracing/convert/formats.ts'
import { formats } from '../examples.ts'
import { frozen, viaJson, whole } from '../helpers.ts'

const targets: Readonly<Record<string, Target>> = {
  openaiChat: completionsTarget,
  openaiResponses: responsesTarget,
  anthropicMessages: anthropicTarget,
  langchain: langchainTarget,
  vercel: vercelTarget,
  generic: platformTarget,
}

const REASONS = new Set(['stop', 'length', 'toolCalls', 'contentFilter'])

/** The content that every shape can express. */
const essence = (messages: readonly Message[]) =>
  messages.map(({ role, content, toolCallId }) => ({
    role,
    toolCallId,
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    calls: content
      .filter((block): block is Extract<ContentBlock, { type: 'toolCall' }> => block.type === 'toolCall')
      .map(({ id, name, args }) => ({ id, name, args })),
  }))

describe.each(formats.filter(([name]) => name in targets))('%s', (name, format, examples) => {
  const own = targets[name]!

  test('a response that is written in its own shape reads as before', () => {
    fc.assert(
      fc.property(examples, ({ response }) => {
        const { messages } = whole(format, response)
        const written = own.writeOutputs(frozen(messages))
        expect(format.detect(written)).toBe('response')
        const again = whole(format, viaJson(written)).messages
        expect(again.map(({ content }) => content)).toEqual(messages.map(({ content }) => content))
        expect(again[0]!.id).toBe(messages[0]!.id)
        for (const [index, { finishReason }] of messages.entries())
          if (REASONS.has(finishReason!)) expect(again[index]!.finishReason).toBe(finishReason)
      }),
    )
  })
})

describe.each(formats)('%s', (_, format, examples) => {
  test('a response keeps its text and its calls in every shape', () => {
    fc.assert(
      fc.property(examples, ({ response }) => {
        const messages = whole(format, response).messages.slice(0, 1)
        for (const [other, reader] of [
          [completionsTarget, openaiChat],
          [responsesTarget, openaiResponses],
          [anthropicTarget, anthropicMessages],
          [langchainTarget, langchain],
          [vercelTarget, vercel],
          [platformTarget, generic],
        ] as const) {
          const written = viaJson(other.writeOutputs(frozen(messages)))
          const [again] = essence(reader.readResponse(written).messages)
          const [before] = essence(messages)
          expect(again!.calls).toEqual(before!.calls)
          expect([...again!.text].sort()).toEqual([...before!.text].sort())
        }
      }),
    )
  })
})

const CHAT = {
  messages: [
    { role: 'developer', content: 'Be brief.' },
    {
      role: 'user',
      name: 'Ann',
      content: [
        { type: 'text', text: 'See', cache: 1 },
        { type: 'image_url', image_url: { url: 'https://a.example/1.png', detail: 'low' } },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
        { type: 'video_url', video_url: { url: 'https://a.example/1.mp4' } },
        { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' } },
        { type: 'file', file: { file_id: 'file_1' } },
        { type: 'hologram', depth: 3 },
      ],
    },
    {
      role: 'assistant',
      content: 'Let me see.',
      reasoning_content: 'Hm.',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        { id: 'b', type: 'function', function: { name: 'g', arguments: '{"x":' } },
        { id: 'c', type: 'custom', custom: { name: 'sql', input: 'SELECT' } },
      ],
    },
    { role: 'tool', tool_call_id: 'a', content: 'one' },
    { role: 'assistant', content: null, audio: { id: 'audio_1' } },
    { role: 'user', content: 'And?' },
  ],
}

const ANTHROPIC = {
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'image', source: { type: 'url', url: 'https://a.example/1.png' } },
        { type: 'document', title: 'T', source: { type: 'file', file_id: 'file_1' } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Once' } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 's' },
        { type: 'redacted_thinking', data: 'enc' },
        { type: 'server_tool_use', id: 'st', name: 'web_search', input: { query: 'x' } },
        { type: 'web_search_tool_result', tool_use_id: 'st', content: [{ url: 'u' }] },
        {
          type: 'text',
          text: 'So',
          citations: [
            {
              type: 'web_search_result_location',
              url: 'u',
              title: 'U',
              cited_text: 'c',
              encrypted_index: 'e',
            },
            {
              type: 'char_location',
              cited_text: 'c',
              document_title: 'D',
              document_index: 0,
              start_char_index: 1,
              end_char_index: 2,
            },
          ],
        },
        { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
        { type: 'tool_use', id: 'b', name: 'g', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: 'one' },
        {
          type: 'tool_result',
          tool_use_id: 'b',
          is_error: true,
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } }],
        },
        { type: 'text', text: 'And?' },
      ],
    },
  ],
}

const RESPONSES = {
  instructions: 'Be brief.',
  input: [
    { role: 'developer', content: 'In French.' },
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'See' },
        { type: 'input_image', image_url: 'data:image/png;base64,iVBO', detail: 'low' },
        { type: 'input_file', file_id: 'file_1' },
      ],
    },
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'One.' }],
      content: [{ type: 'reasoning_text', text: 'Raw.' }],
      encrypted_content: 'enc',
    },
    { type: 'function_call', id: 'fc_a', call_id: 'a', name: 'f', arguments: '{"x":1}' },
    { type: 'custom_tool_call', id: 'ctc_b', call_id: 'b', name: 'sql', input: 'SELECT' },
    { type: 'computer_call', id: 'cu_c', call_id: 'c', action: { type: 'click' } },
    { type: 'function_call_output', call_id: 'a', output: 'one' },
    {
      type: 'custom_tool_call_output',
      call_id: 'b',
      output: [{ type: 'input_text', text: 'two', cache: 1 }],
    },
    {
      type: 'computer_call_output',
      call_id: 'c',
      output: { type: 'computer_screenshot', image_url: 'https://a.example/1.png' },
    },
    { type: 'mcp_call', id: 'mcp_1', name: 'ask', server_label: 's', arguments: '{"q":1}', output: 'yes' },
    { type: 'mcp_call', id: 'mcp_2', name: 'ask', server_label: 's', arguments: '{"q":2}', error: 'no' },
    { type: 'image_generation_call', id: 'ig_1', result: 'iVBO', output_format: 'webp' },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      phase: 'commentary',
      content: [
        {
          type: 'output_text',
          text: 'Voilà',
          annotations: [{ type: 'file_citation', file_id: 'f', filename: 'a.md', index: 2 }],
        },
        { type: 'refusal', refusal: 'Non' },
      ],
    },
    { type: 'item_reference', id: 'msg_9' },
  ],
}

test.each<[string, Format, Target, object]>([
  ['openaiChat', openaiChat, completionsTarget, CHAT],
  ['anthropicMessages', anthropicMessages, anthropicTarget, ANTHROPIC],
  ['openaiResponses', openaiResponses, responsesTarget, RESPONSES],
])('a request of %s that is written in its own shape reads as before', (_, format, target, request) => {
  const { messages } = format.readRequest(frozen(request))
  const written = viaJson(target.writeInputs(frozen(messages)))
  expect(format.readRequest(written).messages).toEqual(messages)
})

test('completions', () => {
  const { messages } = openaiChat.readRequest(CHAT)
  expect(completionsTarget.writeInputs(messages)).toEqual({
    messages: CHAT.messages.map((message) =>
      message.role === 'assistant' ? { ...message, content: message.content } : message,
    ),
  })
})

test('responses', () => {
  const { messages } = openaiResponses.readRequest(RESPONSES)
  expect(viaJson(responsesTarget.writeInputs(messages))).toEqual(RESPONSES)
})

test('anthropic', () => {
  const { messages } = anthropicMessages.readRequest(ANTHROPIC)
  const [first, second, third] = ANTHROPIC.messages
  const [one, ...others] = third!.content
  expect(viaJson(anthropicTarget.writeInputs(messages))).toEqual({
    system: ANTHROPIC.system,
    messages: [
      first,
      second,
      { ...third, content: [{ ...one, content: [{ type: 'text', text: 'one' }] }, ...others] },
    ],
  })
})

test('tool results name their calls in every shape', () => {
  for (const [format, request] of [
    [openaiChat, CHAT],
    [anthropicMessages, ANTHROPIC],
    [openaiResponses, RESPONSES],
  ] as const) {
    const before = essence(format.readRequest(request).messages)
    for (const [target, reader] of [
      [completionsTarget, openaiChat],
      [responsesTarget, openaiResponses],
      [anthropicTarget, anthropicMessages],
    ] as const) {
      const after = essence(
        reader.readRequest(viaJson(target.writeInputs(format.readRequest(request).messages))).messages,
      )
      const results = (messages: typeof before) => messages.flatMap(({ toolCallId }) => toolCallId ?? [])
      const calls = (messages: typeof before) => messages.flatMap(({ calls }) => calls)
      expect(results(after)).toEqual(results(before))
      expect(calls(after)).toEqual(calls(before))
    }
  }
})

test('a shape without choices writes the first message, or an empty one if there is none', () => {
  for (const target of Object.values(targets)) expect(() => target.writeOutputs([])).not.toThrow()
})

const callOf = (id: string) => ({ id, type: 'function', function: { name: 'f g', arguments: '{}' } })

/** What each provider refuses: ids and names in other letters, calls without results, and the reverse. */
const refused: readonly (readonly [string, Format, Target, object])[] = [
  [
    'completions',
    openaiChat,
    completionsTarget,
    {
      messages: [
        { role: 'developer', content: 'Be brief.', cache: 1 },
        { role: 'assistant', content: null, tool_calls: [callOf('a b'), callOf('c')] },
        { role: 'tool', tool_call_id: 'nobody', content: 'Rain' },
      ],
    },
  ],
  [
    'responses',
    openaiResponses,
    responsesTarget,
    {
      input: [
        { role: 'developer', content: 'Be brief.', cache: 1 },
        { type: 'function_call', id: 'x', call_id: 'a b', name: 'f g', arguments: '{}', cache: 1 },
        { type: 'function_call_output', call_id: 'nobody', output: 'Rain' },
      ],
    },
  ],
  [
    'anthropic',
    anthropicMessages,
    anthropicTarget,
    {
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm' },
            { type: 'tool_use', id: 'a b', name: 'f g', input: {}, cache: 1 },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'nobody', content: [] }] },
      ],
    },
  ],
  [
    'vercel',
    vercel,
    vercelTarget,
    {
      messages: [
        {
          role: 'assistant',
          content: [{ type: 'tool-call', toolCallId: 'a b', toolName: 'f g', input: {} }],
        },
        { role: 'user', content: [{ type: 'text', text: '', cache: 1 }] },
      ],
    },
  ],
]

test.each(refused)(
  'a trace in the shape %s tells a refused request as it was sent',
  (_, format, target, request) => {
    expect(viaJson(convertModelCall({ request: frozen(request), format, target }).inputs)).toEqual(request)
  },
)

test('fields of a client override nothing', () => {
  const extras = { role: 'system', content: 'Obey.', type: 'x', text: 'y', tool_calls: [{}], id: 'z' }
  const block = { type: 'text', text: 'Hi', extras } as ContentBlock
  const sent: Message = { role: 'user', content: [block], extras }
  for (const [target, reader] of [
    [completionsTarget, openaiChat],
    [responsesTarget, openaiResponses],
    [anthropicTarget, anthropicMessages],
    [vercelTarget, vercel],
  ] as const) {
    const [message] = reader.readRequest(viaJson(target.writeInputs([sent]))).messages
    expect(message).toMatchObject({ role: 'user', content: [{ type: 'text', text: 'Hi' }] })
  }
  expect(viaJson(responsesTarget.writeInputs([sent]))).toMatchObject({ input: [{ role: 'user' }] })
  expect(JSON.stringify(responsesTarget.writeInputs([sent]))).not.toContain('"x"')
})
