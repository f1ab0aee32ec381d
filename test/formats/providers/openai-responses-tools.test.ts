import { expect, test } from 'vitest'
import { openaiResponses, responsesTarget } from '../../../src/models/formats/index.ts'
import * as models from '../../../src/models/formats/models.ts'
import { frozen, streamed, viaJson, whole } from '../helpers.ts'

const response = (...output: object[]) => ({ object: 'response', status: 'completed', output })

/** The events of a stream in which each item is announced, told in pieces and completed. */
const eventsOf = (
  ...items: { readonly type: string; readonly arguments?: unknown; readonly input?: string }[]
) => [
  { type: 'response.created', response: { object: 'response', status: 'in_progress', output: [] } },
  ...items.flatMap((item, output_index) => [
    {
      type: 'response.output_item.added',
      output_index,
      item: {
        ...item,
        ...(typeof item.arguments === 'string' && { arguments: '' }),
        ...(item.input && { input: '' }),
      },
    },
    ...(item.input
      ? [{ type: 'response.custom_tool_call_input.delta', output_index, delta: item.input }]
      : []),
    { type: 'response.output_item.done', output_index, item },
  ]),
  { type: 'response.completed', response: response(...items) },
]

const OWN_SEARCH = {
  type: 'tool_search_call',
  id: 'tsc_1',
  call_id: 'c1',
  execution: 'client',
  arguments: { query: 'ships' },
  status: 'completed',
}
const SHIP = { type: 'function', name: 'ship', parameters: {} }

test.each<[string, Parameters<typeof eventsOf>, object[], string]>([
  [
    'a search for tools that the client runs is a call that waits',
    [OWN_SEARCH],
    [
      {
        type: 'toolCall',
        id: 'c1',
        name: 'tool_search',
        args: { query: 'ships' },
        extras: { type: 'tool_search_call', execution: 'client', item_id: 'tsc_1' },
      },
    ],
    'toolCalls',
  ],
  [
    'a search for tools that OpenAI runs has the tools it found as its result',
    [
      { ...OWN_SEARCH, execution: 'server', call_id: null } as never,
      { type: 'tool_search_output', id: 'tso_1', call_id: null, execution: 'server', tools: [SHIP] } as never,
    ],
    [
      {
        type: 'serverToolCall',
        id: 'tsc_1',
        name: 'tool_search',
        args: { query: 'ships' },
        extras: { type: 'tool_search_call', execution: 'server' },
      },
      {
        type: 'serverToolResult',
        toolCallId: 'tsc_1',
        status: 'success',
        output: [SHIP],
        extras: { type: 'tool_search_output', id: 'tso_1', execution: 'server' },
      },
    ],
    'stop',
  ],
  [
    'searches for tools that OpenAI runs, with ids of calls of their own',
    [
      { ...OWN_SEARCH, execution: 'server' } as never,
      { ...OWN_SEARCH, execution: 'server', id: 'tsc_2', call_id: 'c2' } as never,
      { type: 'tool_search_output', id: 'tso_1', call_id: 'c1', execution: 'server', tools: [SHIP] } as never,
    ],
    [
      {
        type: 'serverToolCall',
        id: 'tsc_1',
        name: 'tool_search',
        args: { query: 'ships' },
        extras: { type: 'tool_search_call', execution: 'server', call_id: 'c1' },
      },
      {
        type: 'serverToolCall',
        id: 'tsc_2',
        name: 'tool_search',
        args: { query: 'ships' },
        extras: { type: 'tool_search_call', execution: 'server', call_id: 'c2' },
      },
      {
        type: 'serverToolResult',
        toolCallId: 'tsc_1',
        status: 'success',
        output: [SHIP],
        extras: { type: 'tool_search_output', id: 'tso_1', execution: 'server', call_id: 'c1' },
      },
    ],
    'stop',
  ],
  [
    'a search of xAI is run by the provider, under each of its types',
    [
      {
        type: 'x_search_call',
        id: 'xs_1',
        call_id: 'c1',
        name: 'x_search',
        arguments: '{"query":"ships"}',
        status: 'completed',
      } as never,
      {
        type: 'custom_tool_call',
        id: 'ctc_1',
        call_id: 'c2',
        name: 'x_keyword_search',
        input: '{"query":"ships"}',
        status: 'completed',
      } as never,
    ],
    [
      {
        type: 'serverToolCall',
        id: 'xs_1',
        name: 'x_search',
        args: { query: 'ships' },
        extras: { type: 'x_search_call', call_id: 'c1' },
      },
      {
        type: 'serverToolCall',
        id: 'ctc_1',
        name: 'x_keyword_search',
        args: { input: '{"query":"ships"}' },
        extras: { type: 'custom_tool_call', call_id: 'c2' },
      },
    ],
    'stop',
  ],
])('%s, whole and streamed', (_, items, content, finishReason) => {
  const [message] = whole(openaiResponses, response(...items)).messages
  expect(message).toMatchObject({ finishReason })
  expect(message!.content).toEqual(content)
  const events = eventsOf(...items)
  expect(streamed(openaiResponses, events).messages[0]).toMatchObject({ content, finishReason })
  // A stream that breaks off before the final event reads alike.
  expect(streamed(openaiResponses, events.slice(0, -1)).messages[0]!.content).toEqual(content)
  expect(
    whole(openaiResponses, viaJson(responsesTarget.writeOutputs([message!]))).messages[0]!.content,
  ).toEqual(content)
})

test.each([
  ['view_x_video', undefined],
  ['web_search_with_snippets', undefined],
  ['browse_page', undefined],
  ['a_tool_of_tomorrow', 'grok-4.3'],
])('the custom tool %s of xAI is the provider’s, whole and streamed', (name, model) => {
  const call = {
    type: 'custom_tool_call',
    id: 'ctc_1',
    call_id: 'c1',
    name,
    input: '{}',
    status: 'completed',
  }
  const events = eventsOf(call).map((event) =>
    'response' in event ? { ...event, response: { ...(event.response as object), model } } : event,
  )
  const content = [{ type: 'serverToolCall', id: 'ctc_1', name, args: { input: '{}' } }]
  expect(whole(openaiResponses, { ...response(call), model }).messages[0]).toMatchObject({
    content,
    finishReason: 'stop',
  })
  expect(streamed(openaiResponses, events).messages[0]).toMatchObject({ content, finishReason: 'stop' })
})

test('the result of a call that xAI or OpenAI ran names the call', () => {
  const { content } = whole(
    openaiResponses,
    response({
      type: 'code_interpreter_call',
      id: 'ci_1',
      call_id: 'c1',
      code: '1',
      outputs: [{ logs: '1' }],
    }),
  ).messages[0]!
  expect(content).toMatchObject([{ id: 'ci_1' }, { type: 'serverToolResult', toolCallId: 'ci_1' }])
})

test('outputs of searches for tools and of local shells are results in a request, and are written back', () => {
  const request = {
    input: [
      OWN_SEARCH,
      { type: 'tool_search_output', call_id: 'c1', execution: 'client', tools: [SHIP] },
      { type: 'local_shell_call', id: 'lsh_1', call_id: 'c2', action: { type: 'exec', command: ['ls'] } },
      { type: 'local_shell_call_output', id: 'c2', output: 'a.txt' },
      { type: 'local_shell_call_output', call_id: 'c2', output: 'b.txt' },
    ],
  }
  const { messages } = openaiResponses.readRequest(frozen(request))
  expect(messages).toMatchObject([
    { role: 'assistant', content: [{ type: 'toolCall', id: 'c1', name: 'tool_search' }] },
    {
      role: 'tool',
      toolCallId: 'c1',
      content: [{ type: 'nonStandard', value: SHIP }],
      extras: { type: 'tool_search_output', execution: 'client' },
    },
    { role: 'assistant', content: [{ type: 'toolCall', id: 'c2', name: 'local_shell' }] },
    { role: 'tool', toolCallId: 'c2', content: [{ type: 'text', text: 'a.txt' }] },
    { role: 'tool', toolCallId: 'c2', content: [{ type: 'text', text: 'b.txt' }] },
  ])
  const { status: _, ...search } = OWN_SEARCH
  expect(viaJson(responsesTarget.writeInputs(messages))).toEqual({
    input: [search, ...request.input.slice(1)],
  })
  const [, found, shell, listed] = request.input
  expect(viaJson(models.openaiResponses.writeRequest(messages))).toEqual({
    input: [search, found, { ...shell, status: 'completed' }, listed],
  })
})
