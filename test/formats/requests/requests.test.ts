import { expect, test } from 'vitest'
import type { ContentBlock, Message } from '../../../src/messages/index.ts'
import {
  anthropicMessages,
  type Format,
  openaiChat,
  openaiResponses as responses,
} from '../../../src/models/formats/index.ts'
import {
  aiSdk,
  anthropic,
  type ModelApi,
  openai,
  openaiResponses,
} from '../../../src/models/formats/models.ts'
import { frozen, viaJson } from '../helpers.ts'

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

const CHAT = {
  messages: [
    { role: 'developer', content: 'Be brief.' },
    {
      role: 'user',
      name: 'Ann',
      content: [
        { type: 'text', text: 'See' },
        { type: 'image_url', image_url: { url: 'https://a.example/1.png', detail: 'low' } },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
        { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' } },
        { type: 'file', file: { file_id: 'file_1' } },
      ],
    },
    {
      role: 'assistant',
      content: 'Let me see.',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
        { id: 'c', type: 'custom', custom: { name: 'sql', input: 'SELECT' } },
      ],
    },
    { role: 'tool', tool_call_id: 'a', content: 'one' },
    { role: 'tool', tool_call_id: 'b', content: 'two' },
    { role: 'tool', tool_call_id: 'c', content: '3' },
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
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
        { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ url: 'u' }] },
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
    {
      type: 'computer_call',
      id: 'cu_c',
      call_id: 'c',
      action: { type: 'click' },
      pending_safety_checks: [],
      status: 'completed',
    },
    { type: 'function_call_output', call_id: 'a', output: 'one' },
    {
      type: 'custom_tool_call_output',
      call_id: 'b',
      output: 'two',
    },
    {
      type: 'computer_call_output',
      call_id: 'c',
      output: { type: 'computer_screenshot', image_url: 'https://a.example/1.png' },
    },
    { type: 'mcp_call', id: 'mcp_1', name: 'ask', server_label: 's', arguments: '{"q":1}', output: 'yes' },
    { type: 'mcp_call', id: 'mcp_2', name: 'ask', server_label: 's', arguments: '{"q":2}', error: 'no' },
    { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'iVBO' },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
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

test.each<[string, Format, ModelApi, object]>([
  ['openaiChat', openaiChat, openai, CHAT],
  ['anthropicMessages', anthropicMessages, anthropic, ANTHROPIC],
  ['openaiResponses', responses, openaiResponses, RESPONSES],
])('a request of %s that is written in its own shape reads as before', (_, format, api, request) => {
  const { messages } = format.readRequest(frozen(request))
  const written = viaJson(api.writeRequest(frozen(messages)))
  expect(format.readRequest(written).messages).toEqual(messages)
})

test('completions', () => {
  const { messages } = openaiChat.readRequest(CHAT)
  expect(openai.writeRequest(messages)).toEqual({
    messages: CHAT.messages.map((message) =>
      message.role === 'assistant' ? { ...message, content: message.content } : message,
    ),
  })
})

test('responses', () => {
  const { messages } = responses.readRequest(RESPONSES)
  expect(viaJson(openaiResponses.writeRequest(messages))).toEqual(RESPONSES)
})

test('anthropic', () => {
  const { messages } = anthropicMessages.readRequest(ANTHROPIC)
  const [first, second, third] = ANTHROPIC.messages
  const [one, ...others] = third!.content
  expect(viaJson(anthropic.writeRequest(messages))).toEqual({
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
    [responses, RESPONSES],
  ] as const) {
    const before = essence(format.readRequest(request).messages)
    for (const [api, reader] of [
      [openai, openaiChat],
      [openaiResponses, responses],
      [anthropic, anthropicMessages],
    ] as const) {
      const after = essence(
        reader.readRequest(viaJson(api.writeRequest(format.readRequest(request).messages))).messages,
      )
      const results = (messages: typeof before) => messages.flatMap(({ toolCallId }) => toolCallId ?? [])
      const calls = (messages: typeof before) => messages.flatMap(({ calls }) => calls)
      expect(results(after)).toEqual(results(before))
      expect(calls(after)).toEqual(calls(before))
    }
  }
})

test('a result of a tool that was JSON and no longer parses reaches the model as it reads', () => {
  const { messages } = aiSdk.writeRequest(
    frozen([
      { role: 'user', content: [{ type: 'text', text: 'Add' }] },
      { role: 'assistant', content: [{ type: 'toolCall', id: 'c1', name: 'add', args: {} }] },
      {
        role: 'tool',
        toolCallId: 'c1',
        content: [{ type: 'text', text: 'Said: "three"' }],
        extras: { type: 'json' },
      },
    ]),
  ) as { messages: readonly { content: readonly { output?: unknown }[] }[] }
  expect(messages.at(-1)!.content[0]!.output).toEqual({ type: 'text', value: 'Said: "three"' })
})
