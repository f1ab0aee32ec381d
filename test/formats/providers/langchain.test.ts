import { AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import { ChatGenerationChunk } from '@langchain/core/outputs'
import { ChatPromptTemplate } from '@langchain/core/prompts'
import { expect, test } from 'vitest'
import { langchain, langchainTarget, openaiChat } from '../../../src/models/formats/index.ts'
import { frozen, streamed, viaJson, whole } from '../helpers.ts'

const messageOf = (value: unknown) => langchain.readResponse(value).messages[0]!

const ANSWER = new AIMessage({
  id: 'msg_1',
  content: [
    { type: 'thinking', thinking: 'Hm', signature: 's' },
    { type: 'text', text: 'So' },
    { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
    { type: 'server_tool_use', id: 'b', name: 'web_search', input: { q: 1 } },
    { type: 'web_search_tool_result', tool_use_id: 'b', content: { type: 'error', error_code: 'x' } },
  ],
  tool_calls: [{ name: 'f', args: { x: 1 }, id: 'a' }],
  response_metadata: { model_provider: 'anthropic', model_name: 'claude', stop_reason: 'tool_use' },
  usage_metadata: {
    input_tokens: 110,
    output_tokens: 7,
    total_tokens: 117,
    input_token_details: { cache_read: 80, cache_creation: 20 },
  },
})

const READ = {
  role: 'assistant',
  id: 'msg_1',
  content: [
    { type: 'reasoning', text: 'Hm', extras: { signature: 's' } },
    { type: 'text', text: 'So' },
    { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
    { type: 'serverToolCall', id: 'b', name: 'web_search', args: { q: 1 } },
    {
      type: 'serverToolResult',
      toolCallId: 'b',
      status: 'success',
      output: { type: 'error', error_code: 'x' },
      extras: { type: 'web_search_tool_result' },
    },
  ],
  finishReason: 'toolCalls',
  usage: {
    inputTokens: 110,
    outputTokens: 7,
    totalTokens: 117,
    inputDetails: { cache_read: 80, cache_creation: 20 },
  },
  metadata: { model: 'claude', model_provider: 'anthropic', stop_reason: 'tool_use' },
}

test.each<[string, unknown]>([
  ['an object', ANSWER],
  ['an envelope', viaJson(ANSWER)],
  ['a stored message', ANSWER.toDict()],
  ['a record of Python', { ...(viaJson(ANSWER) as { kwargs: object }).kwargs, type: 'ai' }],
  ['a generation', { text: 'So', message: ANSWER }],
  ['a result', { generations: [[{ text: 'So', message: ANSWER, generationInfo: {} }]], llmOutput: {} }],
  ['outputs', { messages: [ANSWER] }],
  ['a list', [ANSWER]],
  ['a batch', [[viaJson(ANSWER)]]],
])('a message as %s is read', (_, value) => {
  expect(langchain.detect(value)).toBe('response')
  expect(langchain.readResponse(value)).toEqual({ messages: [READ] })
})

test('standard content is read in the spelling of JavaScript and of Python', () => {
  const script = [
    { type: 'reasoning', reasoning: 'Hm', signature: 's' },
    {
      type: 'text',
      text: 'So',
      annotations: [{ type: 'citation', url: 'u', title: 'U', startIndex: 0, endIndex: 2 }],
    },
    { type: 'image', data: 'AQID', mimeType: 'image/png' },
    { type: 'file', fileId: 'file_1', mimeType: 'application/pdf' },
    { type: 'server_tool_call', id: 'b', name: 'search', args: {} },
    { type: 'server_tool_call_result', toolCallId: 'b', status: 'error', output: { no: 1 } },
    { type: 'tool_call', id: 'a', name: 'f', args: { x: 1 } },
    { type: 'non_standard', value: { type: 'hologram' } },
  ]
  const python = [
    { type: 'reasoning', reasoning: 'Hm', extras: { signature: 's' } },
    {
      type: 'text',
      text: 'So',
      annotations: [{ type: 'citation', url: 'u', title: 'U', start_index: 0, end_index: 2 }],
    },
    { type: 'image', base64: 'AQID', mime_type: 'image/png' },
    { type: 'file', file_id: 'file_1', mime_type: 'application/pdf' },
    { type: 'server_tool_call', id: 'b', name: 'search', args: {} },
    { type: 'server_tool_result', tool_call_id: 'b', status: 'error', output: { no: 1 } },
    { type: 'tool_call', id: 'a', name: 'f', args: { x: 1 } },
    { type: 'non_standard', value: { type: 'hologram' } },
  ]
  const expected = [
    { type: 'reasoning', text: 'Hm', extras: { signature: 's' } },
    {
      type: 'text',
      text: 'So',
      annotations: [{ type: 'citation', url: 'u', title: 'U', startIndex: 0, endIndex: 2 }],
    },
    { type: 'image', base64: 'AQID', mimeType: 'image/png' },
    { type: 'file', fileId: 'file_1', mimeType: 'application/pdf' },
    { type: 'serverToolCall', id: 'b', name: 'search', args: {} },
    { type: 'serverToolResult', toolCallId: 'b', status: 'error', output: { no: 1 } },
    { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
    { type: 'nonStandard', value: { type: 'hologram' } },
  ]
  const call = { id: 'a', name: 'f', args: { x: 1 }, type: 'tool_call' }
  for (const content of [script, python])
    expect(whole(langchain, { type: 'ai', content, tool_calls: [call] }).messages[0]!.content).toEqual(
      expected,
    )
  // An envelope has the content of such messages in another field.
  expect(
    messageOf({ lc: 1, type: 'constructor', id: ['x', 'AIMessage'], kwargs: { content_blocks: script } })
      .content,
  ).toEqual(expected)
})

test('pieces of parallel calls are told apart with and without an index', () => {
  for (const at of [(index: number) => ({ index }), () => ({})]) {
    const chunks = [
      new AIMessageChunk({ content: '', tool_call_chunks: [{ name: 'f', id: 'a', args: '{"x"', ...at(0) }] }),
      new AIMessageChunk({ content: '', tool_call_chunks: [{ args: ':1}', ...at(0) }] }),
      new AIMessageChunk({ content: '', tool_call_chunks: [{ name: 'g', id: 'b', args: '', ...at(1) }] }),
      new AIMessageChunk({ content: '', tool_call_chunks: [{ args: '{"y":', ...at(1) }] }),
    ]
    const expected = [
      { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
      { type: 'invalidToolCall', id: 'b', name: 'g', args: '{"y":' },
    ]
    const reader = (values: readonly unknown[]) =>
      streamed(langchain, values.map(viaJson)).messages[0]!.content
    expect(reader(chunks)).toMatchObject(expected)
  }
})

test('arguments that are cut off stay raw although LangChain completes them', () => {
  const merged = new AIMessageChunk({
    content: '',
    tool_call_chunks: [{ name: 'f', id: 'a', args: '{"path":"/tmp', index: 0 }],
  })
  expect(merged.tool_calls).toMatchObject([{ id: 'a', args: { path: '/tmp' } }])
  expect(messageOf(merged).content).toMatchObject([
    { type: 'invalidToolCall', id: 'a', args: '{"path":"/tmp' },
  ])
  expect(
    messageOf(
      new AIMessage({
        content: '',
        invalid_tool_calls: [{ id: 'a', name: 'f', args: '{"x', error: 'Malformed' }],
      }),
    ).content,
  ).toEqual([{ type: 'invalidToolCall', id: 'a', name: 'f', args: '{"x', error: 'Malformed' }])
})

test('live chunks accumulate to the message that LangChain merges them into', () => {
  const chunks = [
    new AIMessageChunk({ id: 'run-1', content: 'So', response_metadata: { model_provider: 'openai' } }),
    new AIMessageChunk({
      id: 'run-1',
      content: ' it is',
      tool_call_chunks: [{ name: 'f', id: 'a', args: '{}', index: 0 }],
    }),
    new AIMessageChunk({
      id: 'run-1',
      content: '',
      response_metadata: { finish_reason: 'tool_calls', model_name: 'gpt' },
      usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
    }),
  ]
  const merged = chunks.reduce((all, chunk) => all.concat(chunk))
  const accumulated = streamed(
    langchain,
    chunks.map((chunk) => [chunk, { langgraph_node: 'n' }]).map(viaJson),
  )
  expect(accumulated).toEqual(langchain.readResponse(merged))
  expect(accumulated.messages[0]).toMatchObject({
    id: 'run-1',
    content: [
      { type: 'text', text: 'So it is' },
      { type: 'toolCall', id: 'a', name: 'f' },
    ],
    finishReason: 'toolCalls',
    usage: { inputTokens: 3, outputTokens: 4 },
    metadata: { model: 'gpt', model_provider: 'openai' },
  })
  const generations = chunks.map((message) => new ChatGenerationChunk({ message, text: message.text }))
  expect(langchain.detect(generations[0])).toBe('chunk')
})

test.each<[string, number[][], number, number]>([
  [
    'that each count their own tokens',
    [
      [10, 1],
      [0, 2],
      [0, 3],
    ],
    10,
    6,
  ],
  [
    'that each count everything so far',
    [
      [10, 1],
      [10, 3],
      [10, 6],
    ],
    10,
    6,
  ],
  [
    'of which one has all counts',
    [
      [0, 0],
      [10, 6],
    ],
    10,
    6,
  ],
])('the usage of chunks %s is counted once', (_, counts, input, output) => {
  const chunks = counts.map(([input_tokens, output_tokens]) => ({
    type: 'AIMessageChunk',
    content: 'a',
    usage_metadata: { input_tokens, output_tokens },
  }))
  expect(streamed(langchain, chunks).messages[0]!.usage).toEqual({
    inputTokens: input,
    outputTokens: output,
    totalTokens: input + output,
  })
})

test.each<[string, object, object]>([
  [
    'cache writes once if they are sent twice',
    {
      input_tokens: 100,
      output_tokens: 1,
      input_token_details: { cache_creation: 30, ephemeral_5m_input_tokens: 30 },
    },
    { inputTokens: 100, inputDetails: { ephemeral_5m_input_tokens: 30 } },
  ],
  [
    'text tokens that include the cached ones',
    { input_tokens: 100, output_tokens: 1, input_token_details: { text: 100, cache_read: 80 } },
    { inputTokens: 100, inputDetails: { cache_read: 80, text: 20 } },
  ],
  [
    'a total that leaves out the cached tokens',
    { input_tokens: 10, output_tokens: 1, input_token_details: { cache_read: 80, cache_creation: 20 } },
    { inputTokens: 110, inputDetails: { cache_read: 80, cache_creation: 20 } },
  ],
  ['costs', { input_tokens: 1, output_tokens: 1, total_cost: 0.5 }, { inputTokens: 1, totalCost: 0.5 }],
])('usage counts %s', (_, usage_metadata, expected) => {
  expect(whole(langchain, { type: 'ai', content: '', usage_metadata }).messages[0]!.usage).toMatchObject(
    expected,
  )
})

test('each choice of each prompt in a batch becomes a message', () => {
  const generation = (text: string, input_tokens: number) => ({
    text,
    message: { type: 'ai', content: text, usage_metadata: { input_tokens, output_tokens: 1 } },
  })
  const { messages } = whole(langchain, {
    generations: [[generation('a', 10), generation('b', 10)], [generation('c', 20)]],
  })
  expect(messages.map(({ content }) => content)).toMatchObject([
    [{ text: 'a' }],
    [{ text: 'b' }],
    [{ text: 'c' }],
  ])
  expect(messages[0]!.usage).toEqual({ inputTokens: 30, outputTokens: 2, totalTokens: 32 })
  expect(
    whole(langchain, {
      generations: [[{ text: 'once', generationInfo: { finish_reason: 'length' } }]],
      llmOutput: { tokenUsage: { promptTokens: 3, completionTokens: 4 }, model_name: 'm' },
    }).messages,
  ).toEqual([
    {
      role: 'assistant',
      content: [{ type: 'text', text: 'once' }],
      finishReason: 'length',
      usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
      metadata: { model: 'm', finish_reason: 'length' },
    },
  ])
})

test('thoughts and calls are read from additional_kwargs if they are nowhere else', () => {
  expect(
    whole(langchain, {
      type: 'ai',
      content: 'So',
      additional_kwargs: {
        reasoning_content: 'Hm',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }],
        other: 1,
      },
    }).messages[0],
  ).toMatchObject({
    content: [
      { type: 'reasoning', text: 'Hm' },
      { type: 'text', text: 'So' },
      { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
    ],
    metadata: { additional_kwargs: { other: 1 } },
  })
})

const SHELL = { type: 'local_shell_call', id: 'lsh_1', call_id: 'c1', action: { command: ['ls'] } }
const WEB = {
  type: 'web_search_call',
  id: 'ws_1',
  status: 'completed',
  action: { type: 'search', query: 'q' },
}
const DRAWN = { type: 'image_generation_call', id: 'ig_1', result: 'AQID', output_format: 'png' }
const COMPUTER = { type: 'computer_call', id: 'cu_1', call_id: 'c2', action: { type: 'wait' } }
const thoughts = (summary: object[], others: object = {}) => ({
  reasoning: { type: 'reasoning', summary, ...others },
})
const summary = (text: string, others: object = {}) => ({ type: 'summary_text', text, ...others })

test('what LangChain keeps of Responses beside the content is read, whole and streamed', () => {
  const content = [
    { type: 'reasoning', id: 'rs_1', text: 'Hm', extras: { encrypted_content: 'enc' } },
    { type: 'reasoning', text: 'Oh' },
    {
      type: 'serverToolCall',
      id: 'ws_1',
      name: 'web_search',
      args: { action: WEB.action },
      extras: { type: WEB.type },
    },
    {
      type: 'toolCall',
      id: 'c1',
      name: 'local_shell',
      args: { action: SHELL.action },
      extras: { type: SHELL.type, item_id: 'lsh_1' },
    },
    { type: 'text', text: 'So' },
    { type: 'text', text: 'No', extras: { type: 'refusal' } },
  ]
  const about = { id: 'rs_1', encrypted_content: 'enc' }
  const message = {
    type: 'ai',
    content: [{ type: 'text', text: 'So' }],
    additional_kwargs: {
      ...thoughts([summary('Hm'), summary('Oh')], about),
      tool_outputs: [WEB, SHELL],
      refusal: 'No',
    },
    response_metadata: { status: 'completed' },
  }
  const [read] = whole(langchain, message).messages
  expect(read).toMatchObject({ content, finishReason: 'toolCalls' })
  expect(read!.metadata).toEqual({ status: 'completed' })
  expect(langchain.readRequest([message]).messages[0]!.content).toEqual(content)

  const plain = { type: 'ai', content: 'So', additional_kwargs: { reasoning: 'Hm' } }
  expect(whole(langchain, plain).messages[0]!.content).toEqual([
    { type: 'reasoning', text: 'Hm' },
    { type: 'text', text: 'So' },
  ])

  const chunk = (additional_kwargs: object, content: unknown[] = []) => ({
    type: 'AIMessageChunk',
    content,
    additional_kwargs,
  })
  const chunks = [
    chunk(thoughts([], about)),
    chunk(thoughts([summary('H', { index: 0 })])),
    chunk(thoughts([summary('m', { index: 0 })])),
    chunk(thoughts([summary('Oh', { index: 1 })])),
    chunk({ tool_outputs: [WEB] }),
    chunk({ tool_outputs: [SHELL] }),
    chunk({}, [{ type: 'text', text: 'So', index: 0 }]),
    chunk({ refusal: 'No' }),
  ]
  expect(streamed(langchain, chunks).messages[0]!.content).toEqual(content)
})

test('thoughts, calls and images that LangChain repeats beside the content are read once', () => {
  const thought = { type: 'reasoning', reasoning: 'Hm' }
  const image = { type: 'image', mimeType: 'image/png', data: 'AQID', id: 'ig_1' }
  const call = { type: 'tool_call', id: 'c2', name: 'computer_use', args: { action: COMPUTER.action } }
  const types = ['reasoning', 'serverToolCall', 'image', 'toolCall']
  const message = {
    type: 'ai',
    content: [thought, image],
    tool_calls: [call],
    additional_kwargs: { ...thoughts([summary('Hm')], { id: 'rs_1' }), tool_outputs: [DRAWN, COMPUTER] },
  }
  const read = whole(langchain, message).messages[0]!.content
  expect(read.map(({ type }) => type)).toEqual(types)
  expect(read[0]).toEqual({ type: 'reasoning', id: 'rs_1', text: 'Hm' })
  const pieces = [
    { content: [], additional_kwargs: thoughts([], { id: 'rs_1' }) },
    {
      content: [{ ...thought, index: 0 }],
      additional_kwargs: thoughts([summary('Hm', { index: 0 })]),
    },
    { content: [], additional_kwargs: thoughts([], { id: 'rs_2' }) },
    { content: [{ ...thought, index: 0 }], additional_kwargs: thoughts([summary('Hm', { index: 0 })]) },
    { content: [image], additional_kwargs: { tool_outputs: [DRAWN] } },
    {
      content: [],
      tool_call_chunks: [{ id: 'c2', name: 'computer_use', args: '{}', index: 3 }],
      additional_kwargs: { tool_outputs: [COMPUTER] },
    },
  ].map((piece) => ({ type: 'AIMessageChunk', ...piece }))
  const flowing = streamed(langchain, pieces).messages[0]!.content
  expect(flowing.map(({ type, id }) => [type, id])).toEqual([
    ['reasoning', 'rs_1'],
    ['reasoning', 'rs_2'],
    ['image', 'ig_1'],
    ['serverToolCall', 'ig_1'],
    ['toolCall', 'c2'],
  ])
})

test.each<[string, object, object]>([
  [
    'Python',
    { type: 'reasoning_content', reasoning_content: { text: 'Hm', signature: 's' } },
    { stopReason: 'max_tokens' },
  ],
  [
    'JavaScript',
    { type: 'reasoning_content', reasoningText: { text: 'Hm', signature: 's' } },
    { messageStop: { stopReason: 'max_tokens' } },
  ],
])('thoughts and stop reasons of Bedrock are read in the spelling of %s', (name, thought, stop) => {
  const redacted = { type: 'reasoning_content', redactedContent: 'AQID' }
  const content = [
    { type: 'reasoning', text: 'Hm', extras: { signature: 's' } },
    { type: 'reasoning', text: '', extras: { redactedContent: 'AQID' } },
    { type: 'text', text: 'So' },
  ]
  const message = {
    type: 'ai',
    content: [thought, redacted, { type: 'text', text: 'So' }],
    response_metadata: stop,
  }
  expect(whole(langchain, message).messages[0]).toMatchObject({ content, finishReason: 'length' })
  const key = name === 'Python' ? 'reasoning_content' : 'reasoningText'
  const pieces = [
    { type: 'reasoning_content', [key]: { text: 'H' } },
    { type: 'reasoning_content', [key]: { text: 'm' } },
    { type: 'reasoning_content', [key]: { signature: 's' } },
    redacted,
    { type: 'text', text: 'So' },
  ]
  const chunks = [
    ...pieces.map((part) => ({ type: 'AIMessageChunk', content: [part] })),
    { type: 'AIMessageChunk', content: '', response_metadata: stop },
  ]
  expect(streamed(langchain, chunks).messages[0]).toMatchObject({ content, finishReason: 'length' })
})

const CONVERSATION = [
  new SystemMessage('Be brief.'),
  new HumanMessage({
    content: [
      { type: 'text', text: 'See' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } },
    ],
    name: 'Ann',
  }),
  ANSWER,
  new ToolMessage({ content: 'one', tool_call_id: 'a', name: 'f', status: 'error', artifact: { y: 1 } }),
]

test('the input of a call is read in every form', async () => {
  const expected = [
    { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
    {
      role: 'user',
      name: 'Ann',
      content: [
        { type: 'text', text: 'See' },
        { type: 'image', base64: 'AQID', mimeType: 'image/png' },
      ],
    },
    { role: 'assistant', id: 'msg_1', content: READ.content },
    {
      role: 'tool',
      name: 'f',
      toolCallId: 'a',
      status: 'error',
      content: [{ type: 'text', text: 'one' }],
      extras: { artifact: { y: 1 } },
    },
  ]
  const prompt = await ChatPromptTemplate.fromMessages(CONVERSATION).invoke({})
  for (const request of [
    CONVERSATION,
    [CONVERSATION],
    { messages: CONVERSATION },
    viaJson({ messages: [CONVERSATION] }),
    prompt,
    viaJson(prompt),
  ]) {
    expect(langchain.detect(request)).toBe('request')
    const { messages, issues } = langchain.readRequest(request)
    expect(issues).toBeUndefined()
    expect(messages).toMatchObject(expected)
  }
})

test('a value that is no input gets an issue', () => {
  expect(langchain.readRequest({ messages: 'text' })).toMatchObject({
    messages: [],
    issues: [{ path: 'messages' }],
  })
})

test('the target writes messages that LangChain revives', async () => {
  const { load } = await import('@langchain/core/load')
  const { messages } = openaiChat.readRequest({
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'one' },
    ],
  })
  const [list] = langchainTarget.writeInputs(frozen(messages)).messages as unknown[][]
  const [human, ai, tool] = await Promise.all(list!.map((message) => load(JSON.stringify(message))))
  expect(HumanMessage.isInstance(human) && human.text).toBe('Hi')
  expect(AIMessage.isInstance(ai) && ai.tool_calls).toEqual([
    { id: 'a', name: 'f', args: { x: 1 }, type: 'tool_call' },
  ])
  expect(ToolMessage.isInstance(tool) && tool.tool_call_id).toBe('a')
})
