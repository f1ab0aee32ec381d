import { describe, expect, test } from 'vitest'
import { aiSdkRefusals, SENDERS, sentBy } from './ai-sdk.ts'
import {
  anthropicHistory,
  bedrockConverseHistory,
  chatServerHistory,
  cohereHistory,
  geminiHistory,
  MEDIA,
  mistralHistory,
  ollamaHistory,
  openaiChatHistory,
  openaiResponsesHistory,
  PROOFS,
  vercelHistory,
} from './histories.ts'
import {
  anthropicRefusals,
  anthropicThinkingRefusals,
  bedrockConverseRefusals,
  cohereRefusals,
  geminiRefusals,
  mistralRefusals,
  ollamaRefusals,
  openaiChatRefusals,
  openaiResponsesRefusals,
} from './index.ts'

/* For each rule a request that is refused, with a word of the sentence, and its twin that is taken. */

type Rule = readonly [rule: string, refused: object, sentence: string | RegExp, taken: object]

function rules(name: string, refusals: (request: unknown) => string[], table: readonly Rule[]): void {
  describe(name, () => {
    test.each(table)('%s', (_, refused, sentence, taken) => {
      expect(refusals(refused)).toContainEqual(expect.stringMatching(sentence))
      expect(refusals(taken)).toEqual([])
    })
  })
}

const png = { type: 'base64', media_type: 'image/png', data: MEDIA.PNG }

/** A request of Anthropic with this content of the user's, and of the assistant's and the user's after that. */
const claude = (...contents: readonly unknown[]) => ({
  messages: contents.map((content, index) => ({ role: index % 2 ? 'assistant' : 'user', content })),
})
const asked = (...blocks: readonly object[]) => claude(blocks)
const hi = [{ type: 'text', text: 'Hi' }]
const use = (fields: object = {}) => ({ type: 'tool_use', id: 'toolu_1', name: 'f', input: {}, ...fields })
const answer = (fields: object = {}) => ({
  type: 'tool_result',
  tool_use_id: 'toolu_1',
  content: 'So',
  ...fields,
})
const search = (fields: object = {}) => ({
  type: 'server_tool_use',
  id: 'srvtoolu_1',
  name: 'web_search',
  input: {},
  ...fields,
})
const found = (fields: object = {}) => ({
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [],
  ...fields,
})

rules('anthropic', anthropicRefusals, [
  [
    'image fields',
    asked({ type: 'image', source: png, metadata: {} }),
    'metadata: Extra',
    asked({ type: 'image', source: png }),
  ],
  [
    'text fields',
    asked({ type: 'text', text: 'Hi', index: 0 }),
    'index: Extra',
    asked({ type: 'text', text: 'Hi' }),
  ],
  [
    'document fields',
    asked({ type: 'document', source: { type: 'url', url: 'https://a.example/1.pdf' }, filename: 'a' }),
    'filename: Extra',
    asked({ type: 'document', source: { type: 'url', url: 'https://a.example/1.pdf' }, title: 'a' }),
  ],
  [
    'tool_use fields',
    claude('Hi', [use({ item_id: 'x' })], [answer()]),
    'item_id: Extra',
    claude('Hi', [use()], [answer()]),
  ],
  [
    'tool_result fields',
    claude('Hi', [use()], [answer({ artifact: 1 })]),
    'artifact: Extra',
    claude('Hi', [use()], [answer({ is_error: true })]),
  ],
  [
    'message fields',
    { messages: [{ role: 'user', content: 'Hi', id: 'm' }] },
    'id: Extra',
    { messages: [{ role: 'user', content: 'Hi' }] },
  ],
  ['known blocks', asked({ type: 'hologram' }), 'type: must be equal', asked(...hi)],
  ['no audio', asked({ type: 'audio', source: png }), 'type: must be equal', asked(...hi)],
  [
    'roles',
    { messages: [{ role: 'system', content: 'Hi' }] },
    'role',
    { system: 'Hi', messages: [{ role: 'user', content: 'Hi' }] },
  ],
  [
    'first message',
    { messages: [{ role: 'assistant', content: 'Hi' }] },
    'must use the "user" role',
    claude('Hi', 'Hi'),
  ],
  ['no empty text', asked({ type: 'text', text: '' }), 'must be non-empty', asked(...hi)],
  ['no blank text', asked({ type: 'text', text: ' \n' }), 'non-whitespace', asked(...hi)],
  [
    'no empty text in results',
    claude('Hi', [use()], [answer({ content: [{ type: 'text', text: '' }] })]),
    'must be non-empty',
    claude('Hi', [use()], [answer({ content: [] })]),
  ],
  [
    'no empty text in system',
    { system: [{ type: 'text', text: '' }], messages: [{ role: 'user', content: 'Hi' }] },
    'must be non-empty',
    { messages: [{ role: 'user', content: 'Hi' }] },
  ],
  ['content', claude('Hi', [], 'Hi'), 'must have non-empty content', claude('Hi', [])],
  ['content that is text', claude('Hi', ' ', 'Hi'), 'must have non-empty content', claude('Hi', '')],
  [
    'the end',
    claude('Hi', [{ type: 'text', text: 'So ' }]),
    'trailing whitespace',
    claude('Hi', [{ type: 'text', text: 'So ' }], 'Go on'),
  ],
  [
    'input',
    claude('Hi', [use({ input: '{"a":' })], [answer()]),
    'valid dictionary',
    claude('Hi', [use({ input: {} })], [answer()]),
  ],
  [
    'id of a call',
    claude('Hi', [use({ id: 'functions.f:0' })], [answer({ tool_use_id: 'functions.f:0' })]),
    'should match pattern',
    claude('Hi', [use({ id: 'functions_f_0' })], [answer({ tool_use_id: 'functions_f_0' })]),
  ],
  [
    'id of a search',
    claude('Hi', [search({ id: 'ws_1' }), found({ tool_use_id: 'ws_1' }), ...hi]),
    'srvtoolu_',
    claude('Hi', [search(), found(), ...hi]),
  ],
  [
    'name',
    claude('Hi', [use({ name: 'look up' })], [answer()]),
    'tool_use.name',
    claude('Hi', [use({ name: 'look_up' })], [answer()]),
  ],
  [
    'signature',
    claude('Hi', [{ type: 'thinking', thinking: 'Hm' }, ...hi]),
    'signature',
    claude('Hi', [{ type: 'thinking', thinking: 'Hm', signature: 's' }, ...hi]),
  ],
  [
    'empty signature',
    claude('Hi', [{ type: 'thinking', thinking: 'Hm', signature: '' }, ...hi]),
    'Invalid `signature`',
    claude('Hi', [{ type: 'thinking', thinking: '', signature: 's' }, ...hi]),
  ],
  [
    'a thought at the end',
    claude('Hi', [{ type: 'thinking', thinking: 'Hm', signature: 's' }]),
    'cannot be `thinking`',
    claude('Hi', [{ type: 'thinking', thinking: 'Hm', signature: 's' }, ...hi]),
  ],
  [
    'calls are answered',
    claude('Hi', [use()], 'Hi'),
    'without `tool_result` blocks',
    claude('Hi', [use()], [answer(), ...hi]),
  ],
  [
    'results come first',
    claude('Hi', [use()], [...hi, answer()]),
    'immediately after',
    claude('Hi', [use()], [answer(), ...hi]),
  ],
  ['results have calls', claude([answer()]), 'unexpected `tool_use_id`', claude('Hi', [use()], [answer()])],
  [
    'one result',
    claude('Hi', [use()], [answer(), answer()]),
    'single result',
    claude('Hi', [use()], [answer()]),
  ],
  [
    'ids are unique',
    claude('Hi', [use()], [answer()], [use()], [answer()]),
    'must be unique',
    claude('Hi', [use()], [answer()], [use({ id: 'b' })], [answer({ tool_use_id: 'b' })]),
  ],
  [
    'searches have results',
    claude('Hi', [search(), ...hi], 'Hi'),
    'without a corresponding',
    claude('Hi', [...hi, search()]),
  ],
  [
    'results of searches',
    claude('Hi', [found(), ...hi]),
    'unexpected `tool_use_id`',
    claude('Hi', [search(), found(), ...hi]),
  ],
  [
    'the shape of what was found',
    claude('Hi', [search(), found({ content: [{ url: 'u' }] }), ...hi]),
    'required property',
    claude('Hi', [
      search(),
      found({ content: [{ type: 'web_search_result', url: 'u', title: 't', encrypted_content: 'e' }] }),
      ...hi,
    ]),
  ],
  [
    'base64 documents',
    asked({ type: 'document', source: { type: 'base64', media_type: 'text/csv', data: MEDIA.CSV } }),
    'application/pdf',
    asked({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b' } }),
  ],
  [
    'types of images',
    asked({ type: 'image', source: { ...png, media_type: 'image/svg+xml' } }),
    'image/jpeg',
    asked({ type: 'image', source: { ...png, media_type: 'image/webp' } }),
  ],
  [
    'base64',
    asked({ type: 'image', source: { ...png, data: 'data:image/png;base64,AAAA' } }),
    'base64',
    asked({ type: 'image', source: png }),
  ],
  [
    'urls',
    asked({ type: 'image', source: { type: 'url', url: 's3://a' } }),
    'HTTPS',
    asked({ type: 'image', source: { type: 'url', url: 'https://a.example/1.png' } }),
  ],
  [
    'citations',
    claude('Hi', [{ type: 'text', text: 'So', citations: [{ type: 'url_citation', url: 'u', title: 't' }] }]),
    'citations',
    claude('Hi', [
      {
        type: 'text',
        text: 'So',
        citations: [
          { type: 'web_search_result_location', url: 'u', title: 't', cited_text: 'c', encrypted_index: 'e' },
        ],
      },
    ]),
  ],
  [
    'pictures of the assistant',
    claude('Hi', [{ type: 'image', source: png }, ...hi]),
    'not permitted',
    claude([{ type: 'image', source: png }]),
  ],
  ['calls of the user', asked(use()), 'only be in `assistant`', asked(...hi)],
  [
    'marks of the cache',
    asked(...Array.from({ length: 5 }, () => ({ ...hi[0]!, cache_control: { type: 'ephemeral' } }))),
    'maximum of 4',
    asked(...Array.from({ length: 4 }, () => ({ ...hi[0]!, cache_control: { type: 'ephemeral' } }))),
  ],
])

rules('anthropic with thinking', anthropicThinkingRefusals, [
  [
    'a turn starts with its thought',
    claude('Hi', [...hi, use()], [answer()]),
    'Expected thinking',
    claude('Hi', [{ type: 'thinking', thinking: 'Hm', signature: 's' }, use()], [answer()]),
  ],
])

const chat = (...messages: readonly object[]) => ({
  messages: [{ role: 'user', content: 'Hi' }, ...messages],
})
const part = (...content: readonly object[]) => ({ messages: [{ role: 'user', content }] })
const call = (fields: object = {}, body: object = {}) => ({
  id: 'call_1',
  type: 'function',
  function: { name: 'f', arguments: '{}', ...body },
  ...fields,
})
const calls = (...tool_calls: readonly object[]) => ({ role: 'assistant', content: null, tool_calls })
const told = (tool_call_id = 'call_1') => ({ role: 'tool', tool_call_id, content: 'So' })
const pdf = `data:application/pdf;base64,${MEDIA.PDF}`
const url = `data:image/png;base64,${MEDIA.PNG}`

rules('openai chat', openaiChatRefusals, [
  [
    'parts of a tool',
    chat(calls(call()), { ...told(), content: [{ type: 'image_url', image_url: { url } }] }),
    'content\\[0\\]',
    chat(calls(call()), { ...told(), content: [{ type: 'text', text: 'So' }] }),
  ],
  [
    'parts of the assistant',
    chat({ role: 'assistant', content: [{ type: 'image_url', image_url: { url } }] }),
    'content\\[0\\].type',
    chat({ role: 'assistant', content: [{ type: 'refusal', refusal: 'No' }] }),
  ],
  [
    'parts of the system',
    chat({ role: 'system', content: [{ type: 'image_url', image_url: { url } }] }),
    'content\\[0\\]',
    chat({ role: 'developer', content: [{ type: 'text', text: 'So' }] }),
  ],
  [
    'fields of a part',
    part({ type: 'image_url', image_url: { url }, metadata: {} }),
    'metadata: Extra',
    part({ type: 'image_url', image_url: { url, detail: 'low' } }),
  ],
  [
    'filename',
    part({ type: 'file', file: { file_data: pdf } }),
    'file.file_id',
    part({ type: 'file', file: { file_data: pdf, filename: 'a.pdf' } }),
  ],
  [
    'urls of files',
    part({ type: 'file', file: { file_url: 'https://a.example' } }),
    'file_url',
    part({ type: 'file', file: { file_id: 'file-1' } }),
  ],
  [
    'data urls',
    part({ type: 'file', file: { file_data: MEDIA.PDF, filename: 'a' } }),
    'data URL',
    part({ type: 'file', file: { file_data: pdf, filename: 'a' } }),
  ],
  [
    'no null',
    chat({ role: 'assistant', content: null }),
    'expected a string, got null',
    chat(
      { role: 'assistant', content: '' },
      { role: 'assistant', content: null, refusal: 'No' },
      calls(call()),
      told(),
    ),
  ],
  ['no empty list', chat({ role: 'user', content: [] }), 'empty array', chat({ role: 'user', content: '' })],
  [
    'no empty list of calls',
    chat({ role: 'assistant', content: 'So', tool_calls: [] }),
    'empty array',
    chat({ role: 'assistant', content: 'So' }),
  ],
  ['no empty id', chat(calls(call({ id: '' })), told('')), 'too short', chat(calls(call()), told())],
  [
    'length of an id',
    chat(calls(call({ id: 'x'.repeat(41) })), told('x'.repeat(41))),
    'too long',
    chat(calls(call({ id: 'x'.repeat(40) })), told('x'.repeat(40))),
  ],
  [
    'name of a function',
    chat(calls(call({}, { name: 'look up' })), told()),
    'function.name',
    chat(calls(call({}, { name: 'look-up' })), told()),
  ],
  [
    'calls are answered',
    chat(calls(call()), { role: 'user', content: 'Hi' }),
    'did not have response',
    chat(calls(call()), told(), { role: 'user', content: 'Hi' }),
  ],
  ['answers have calls', chat(told()), 'must be a response', chat(calls(call()), told())],
  [
    'one answer',
    chat(calls(call()), told(), told()),
    'Duplicate',
    chat(calls(call()), told(), calls(call()), told()),
  ],
  [
    'name',
    chat({ role: 'user', name: 'Ann Lee', content: 'Hi' }),
    'name: string does not match',
    chat({ role: 'user', name: 'Ann_Lee', content: 'Hi' }),
  ],
  [
    'thoughts',
    chat({ role: 'assistant', content: 'So', reasoning_content: 'Hm' }),
    'reasoning_content: Extra',
    chat({ role: 'assistant', content: 'So' }),
  ],
  [
    'annotations',
    chat({ role: 'assistant', content: 'So', annotations: [] }),
    'annotations: Extra',
    chat({ role: 'assistant', content: 'So' }),
  ],
  [
    'types of images',
    part({ type: 'image_url', image_url: { url: 'data:image/svg+xml;base64,AAAA' } }),
    'unsupported image',
    part({ type: 'image_url', image_url: { url: 'https://a.example/1.svg' } }),
  ],
  [
    'urls',
    part({ type: 'image_url', image_url: { url: 's3://a' } }),
    'valid URL',
    part({ type: 'image_url', image_url: { url } }),
  ],
  [
    'audio',
    part({ type: 'input_audio', input_audio: { data: MEDIA.WAV, format: 'mpeg' } }),
    'format',
    part({ type: 'input_audio', input_audio: { data: MEDIA.WAV, format: 'mp3' } }),
  ],
])

rules('servers that take thoughts', (request) => openaiChatRefusals(request, { thoughts: true }), [
  [
    'thoughts, and nothing else',
    chat({ role: 'assistant', content: 'So', reasoning_content: 'Hm', annotations: [] }),
    'annotations',
    chat({ role: 'assistant', content: 'So', reasoning_content: 'Hm' }),
  ],
])

rules('strict servers', (request) => openaiChatRefusals(request, { strict: true }), [
  [
    'arguments',
    chat(calls(call({}, { arguments: '{"a":' })), told()),
    'Failed to parse',
    chat(calls(call()), told()),
  ],
  [
    'custom calls',
    chat(calls({ id: 'call_1', type: 'custom', custom: { name: 'f', input: 'x' } }), told()),
    'function',
    chat(calls(call()), told()),
  ],
  [
    'thoughts',
    chat({ role: 'assistant', content: 'So', reasoning_content: 'Hm' }),
    'reasoning_content',
    chat({ role: 'assistant', content: 'So' }),
  ],
])

const items = (...input: readonly object[]) => ({ input: [{ role: 'user', content: 'Hi' }, ...input] })
const given = (...content: readonly object[]) => ({ input: [{ role: 'user', content }] })
const text = { role: 'assistant', content: [{ type: 'output_text', text: 'So' }] }
const fn = (fields: object = {}) => ({
  type: 'function_call',
  call_id: 'call_1',
  name: 'f',
  arguments: '{}',
  ...fields,
})
const out = (fields: object = {}) => ({
  type: 'function_call_output',
  call_id: 'call_1',
  output: 'So',
  ...fields,
})

rules('openai responses', openaiResponsesRefusals, [
  [
    'reasoning is known or carried',
    items({ type: 'reasoning', summary: [] }, text),
    'id: Missing required',
    items(
      { type: 'reasoning', id: 'rs_1', summary: [] },
      text,
      { type: 'reasoning', encrypted_content: 'e', summary: [] },
      text,
    ),
  ],
  [
    'reasoning has what follows',
    items({ type: 'reasoning', id: 'rs_1', summary: [] }, { role: 'user', content: 'Hi' }),
    'without its required following item',
    items({ type: 'reasoning', id: 'rs_1', summary: [] }, text),
  ],
  [
    'label of a server',
    items({ type: 'mcp_call', id: 'mcp_1', name: 'f', arguments: '{}' }),
    'server_label',
    items({ type: 'mcp_call', id: 'mcp_1', name: 'f', arguments: '{}', server_label: 's' }),
  ],
  [
    'filename',
    given({ type: 'input_file', file_data: pdf }),
    'filename',
    given({ type: 'input_file', file_data: pdf, filename: 'a.pdf' }),
  ],
  [
    'filename and url',
    given({ type: 'input_file', file_url: 'https://a.example', filename: 'a.pdf' }),
    'Mutually exclusive',
    given({ type: 'input_file', file_url: 'https://a.example' }),
  ],
  [
    'fields of a text',
    given({ type: 'input_text', text: 'Hi', cache_control: {} }),
    'cache_control: Extra',
    given({ type: 'input_text', text: 'Hi' }),
  ],
  [
    'fields of an image',
    given({ type: 'input_image', image_url: url, metadata: {} }),
    'metadata: Extra',
    given({ type: 'input_image', image_url: url, detail: 'low' }),
  ],
  [
    'fields of a file',
    given({ type: 'input_file', file_id: 'file-1', title: 'x' }),
    'title: Extra',
    given({ type: 'input_file', file_id: 'file-1', detail: 'low' }),
  ],
  [
    'fields of answers',
    items({
      type: 'image_generation_call',
      id: 'ig_1',
      status: 'completed',
      result: MEDIA.PNG,
      action: 'generate',
    }),
    'action: Extra',
    items({ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: MEDIA.PNG }),
  ],
  [
    'parsed_arguments',
    items(fn({ parsed_arguments: {} }), out()),
    'parsed_arguments: Extra',
    items(fn(), out()),
  ],
  ['parsed', items({ ...text, content: [{ ...text.content[0], parsed: {} }] }), 'parsed: Extra', items(text)],
  [
    'pictures',
    items({ role: 'assistant', content: [{ type: 'input_image', image_url: url }] }),
    'output_text',
    items(fn(), out({ output: [{ type: 'input_image', image_url: url }] })),
  ],
  [
    'parts of the user',
    given({ type: 'output_text', text: 'Hi' }),
    'input_text',
    given({ type: 'input_text', text: 'Hi' }),
  ],
  ['known items', items({ type: 'server_tool_use', id: 'srvtoolu_1' }), 'type: must be equal', items(text)],
  ['ids', items({ ...text, id: 'chatcmpl-1' }), 'letters, numbers', items({ ...text, id: 'msg_1' })],
  ['prefixes', items(fn({ id: 'call_1' }), out()), "begins with 'fc'", items(fn({ id: 'fc_1' }), out())],
  [
    'no id twice',
    items({ ...text, id: 'msg_1' }, { ...text, id: 'msg_1' }),
    'Duplicate item',
    items(text, text),
  ],
  [
    'length of an id',
    items(fn({ call_id: 'x'.repeat(65) }), out({ call_id: 'x'.repeat(65) })),
    'too long',
    items(fn({ call_id: 'x'.repeat(64) }), out({ call_id: 'x'.repeat(64) })),
  ],
  ['no empty id', items(fn({ call_id: '' }), out({ call_id: '' })), 'empty string', items(fn(), out())],
  [
    'names',
    items(fn({ name: 'look up' }), out()),
    'name: string does not match',
    items(fn({ name: 'look_up' }), out()),
  ],
  ['calls are answered', items(fn()), 'No tool output found', items(fn(), text, out())],
  ['outputs have calls', items(out()), 'No tool call found', items(fn(), out(), fn(), out())],
  ['no empty list', given(), 'empty array', given({ type: 'input_text', text: '' })],
  [
    'one source',
    given({ type: 'input_image' }),
    'exactly one',
    given({ type: 'input_image', file_id: 'file-1' }),
  ],
  [
    'types of images',
    given({ type: 'input_image', image_url: 'data:application/pdf;base64,AAAA' }),
    'unsupported MIME type',
    given({ type: 'input_image', image_url: url }),
  ],
])

const turns = (...contents: readonly object[]) => ({
  contents: [{ role: 'user', parts: [{ text: 'Hi' }] }, ...contents],
})
const model = (...parts: readonly object[]) => ({ role: 'model', parts })
const user = (...parts: readonly object[]) => ({ role: 'user', parts })
const fc = (fields: object = {}) => ({
  functionCall: { name: 'f', args: {} },
  thoughtSignature: 'c2ln',
  ...fields,
})
const fr = (fields: object = {}) => ({
  functionResponse: { name: 'f', response: { output: 'So' }, ...fields },
})

rules('gemini', geminiRefusals, [
  [
    'fields of a part',
    turns(model({ text: 'So', metadata: {} })),
    'metadata: Extra',
    turns(model({ text: 'So', thought: true }, { text: 'So' })),
  ],
  [
    'roles',
    turns({ role: 'assistant', parts: [{ text: 'So' }] }),
    'valid role',
    turns(model({ text: 'So' })),
  ],
  ['parts', turns(model()), 'must not be empty', turns(model({ text: 'So' }))],
  [
    'no part without data',
    turns(model({ thought: true })),
    "oneof field 'data'",
    turns(model({ text: 'So' })),
  ],
  [
    'no empty text',
    turns(model({ text: '' })),
    'must have a text',
    turns(model({ text: '', thoughtSignature: 'c2ln' })),
  ],
  [
    'signatures',
    turns(model({ text: 'So', thoughtSignature: 'a b' })),
    'Base64',
    turns(model({ text: 'So', thoughtSignature: 'c2ln' })),
  ],
  [
    'signatures of calls',
    turns(model(fc({ thoughtSignature: undefined })), user(fr())),
    'thought_signature',
    turns(model(fc({ thoughtSignature: undefined })), user(fr()), user({ text: 'Hi' })),
  ],
  [
    'results are objects',
    turns(model(fc()), user(fr({ response: 'So' }))),
    /response: must be object/,
    turns(model(fc()), user(fr())),
  ],
  [
    'names of results',
    turns(model(fc()), user(fr({ name: '' }))),
    'Name cannot be empty',
    turns(model(fc()), user(fr())),
  ],
  [
    'as many results as calls',
    turns(model(fc(), fc()), user(fr())),
    'number of function response parts',
    turns(model(fc(), fc()), user(fr(), fr())),
  ],
  [
    'calls come after the user',
    { contents: [model(fc()), user(fr())] },
    'function call turn comes immediately after',
    turns(model(fc()), user(fr()), model(fc()), user(fr())),
  ],
  [
    'results come after calls',
    turns(user(fr())),
    'function response turn comes',
    turns(model(fc()), user(fr())),
  ],
  [
    'media',
    turns(user({ inlineData: { mimeType: 'image/png', data: url } })),
    'Base64',
    turns(user({ inlineData: { mimeType: 'image/png', data: MEDIA.PNG } })),
  ],
])

const said = (...contents: readonly (readonly object[])[]) => ({
  messages: contents.map((content, index) => ({ role: index % 2 ? 'assistant' : 'user', content })),
})
const toolUse = (fields: object = {}) => ({ toolUse: { toolUseId: 't_1', name: 'f', input: {}, ...fields } })
const toolResult = (fields: object = {}) => ({
  toolResult: { toolUseId: 't_1', content: [{ text: 'So' }], ...fields },
})
const document = (fields: object = {}) => ({
  document: { format: 'pdf', name: 'May', source: { bytes: MEDIA.PDF }, ...fields },
})
const ok = [{ text: 'Hi' }]

rules('bedrock converse', bedrockConverseRefusals, [
  ['fields', said([{ text: 'Hi', metadata: {} }]), 'metadata: Extra', said(ok)],
  ['start', { messages: [{ role: 'assistant', content: ok }] }, 'start with a user message', said(ok)],
  [
    'alternate',
    {
      messages: [
        { role: 'user', content: ok },
        { role: 'user', content: ok },
      ],
    },
    'must alternate',
    said(ok, ok),
  ],
  ['content', said([]), 'is empty', said(ok)],
  ['no blank text', said([{ text: ' ' }]), 'is blank', said(ok)],
  [
    'ids',
    said(ok, [toolUse({ toolUseId: 'a:0' })], [toolResult({ toolUseId: 'a:0' })]),
    'regular expression',
    said(ok, [toolUse()], [toolResult()]),
  ],
  [
    'names',
    said(ok, [toolUse({ name: 'look up' })], [toolResult()]),
    'toolUse.name',
    said(ok, [toolUse({ name: 'look_up' })], [toolResult()]),
  ],
  [
    'input',
    said(ok, [toolUse({ input: '{"a":' })], [toolResult()]),
    'json object',
    said(ok, [toolUse()], [toolResult()]),
  ],
  [
    'calls are answered',
    said(ok, [toolUse()], ok),
    'Expected toolResult',
    said(ok, [toolUse()], [toolResult(), ...ok]),
  ],
  ['results have calls', said([toolResult()]), 'exceeds the number', said(ok, [toolUse()], [toolResult()])],
  [
    'names of documents',
    said([...ok, document({ name: 'may.pdf' })]),
    'document name',
    said([...ok, document({ name: 'may-pdf' })]),
  ],
  ['text with a document', said([document()]), 'text block must be included', said([...ok, document()])],
  [
    'bytes of the SDK',
    said([...ok, document({ source: { bytes: '%PDF' } })]),
    'bytes',
    said([...ok, document({ source: { bytes: new Uint8Array([1, 2]) } })]),
  ],
  [
    'signature',
    said(ok, [{ reasoningContent: { reasoningText: { text: 'Hm' } } }, ...ok]),
    'signature',
    said(ok, [{ reasoningContent: { reasoningText: { text: 'Hm', signature: 's' } } }, ...ok]),
  ],
  [
    'pictures of the assistant',
    said(ok, [{ image: { format: 'png', source: { bytes: MEDIA.PNG } } }]),
    'not supported in assistant',
    said([{ image: { format: 'png', source: { bytes: MEDIA.PNG } } }]),
  ],
])

const nine = (fields: object = {}) => call({ id: 'call00001', ...fields })
const toldNine = told('call00001')

rules('mistral', mistralRefusals, [
  ['ids', chat(calls(call()), told()), 'length of 9', chat(calls(nine()), toldNine)],
  [
    'fields',
    chat({ role: 'assistant', content: 'So', reasoning_content: 'Hm' }),
    'reasoning_content: Extra',
    chat({ role: 'assistant', content: 'So' }),
  ],
  [
    'a user after a tool',
    chat(calls(nine()), toldNine, { role: 'user', content: 'Hi' }),
    "Unexpected role 'user' after role 'tool'",
    chat(calls(nine()), toldNine, { role: 'assistant', content: 'So' }, { role: 'user', content: 'Hi' }),
  ],
  [
    'system first',
    chat({ role: 'system', content: 'So' }),
    "Unexpected role 'system'",
    {
      messages: [
        { role: 'system', content: 'So' },
        { role: 'user', content: 'Hi' },
      ],
    },
  ],
  [
    'content',
    chat({ role: 'assistant', content: '' }),
    'must have either content or tool_calls',
    chat({ role: 'assistant', content: 'So' }),
  ],
  ['as many results', chat(calls(nine())), 'Not the same number', chat(calls(nine()), toldNine)],
  ['results have calls', chat(told()), 'Unexpected tool call id', chat(calls(nine()), toldNine)],
])

rules('ollama', ollamaRefusals, [
  [
    'whole characters',
    { messages: [{ role: 'user', content: 'So\ud83d' }] },
    'no low surrogate',
    { messages: [{ role: 'user', content: 'So\\ud83d 😀' }] },
  ],
  [
    'content',
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] },
    'must be string',
    { messages: [{ role: 'user', content: 'Hi' }] },
  ],
  [
    'roles',
    { messages: [{ role: 'developer', content: 'Hi' }] },
    'invalid role',
    { messages: [{ role: 'system', content: 'Hi' }] },
  ],
  [
    'images',
    { messages: [{ role: 'user', content: '', images: [url] }] },
    'illegal base64',
    { messages: [{ role: 'user', content: '', images: [MEDIA.PNG] }] },
  ],
  [
    'arguments',
    {
      messages: [
        { role: 'assistant', content: '', tool_calls: [{ function: { name: 'f', arguments: '{}' } }] },
      ],
    },
    'cannot unmarshal',
    {
      messages: [
        { role: 'assistant', content: '', tool_calls: [{ function: { name: 'f', arguments: {} } }] },
      ],
    },
  ],
])

rules('cohere', cohereRefusals, [
  [
    'fields',
    chat({ role: 'assistant', content: 'So', refusal: 'No' }),
    'refusal: Extra',
    chat({ role: 'assistant', content: 'So' }),
  ],
  ['content', chat({ role: 'user', content: '' }), 'at least 1 token', chat({ role: 'user', content: 'So' })],
  [
    'calls are answered',
    chat({ role: 'assistant', tool_calls: [call()] }),
    'missing tool results',
    chat({ role: 'assistant', tool_calls: [call()] }, told()),
  ],
  [
    'results have calls',
    chat(told()),
    'not found',
    chat({ role: 'assistant', tool_plan: 'Hm', tool_calls: [call()] }, told()),
  ],
  [
    'arguments',
    chat({ role: 'assistant', tool_calls: [call({}, { arguments: '{"a":' })] }, told()),
    'JSON object',
    chat({ role: 'assistant', tool_calls: [call()] }, told()),
  ],
])

rules('ai sdk', aiSdkRefusals, [
  [
    'known parts',
    { messages: [{ role: 'assistant', content: [{ type: 'source', sourceType: 'url', url: 'u' }] }] },
    'Invalid input',
    { messages: [{ role: 'assistant', content: [{ type: 'text', text: 'So' }] }] },
  ],
  [
    'output of a result',
    {
      messages: [
        { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'a', toolName: 'f', output: 'So' }] },
      ],
    },
    'output',
    {
      messages: [
        {
          role: 'tool',
          content: [
            { type: 'tool-result', toolCallId: 'a', toolName: 'f', output: { type: 'text', value: 'So' } },
          ],
        },
      ],
    },
  ],
  [
    'system',
    { messages: [{ role: 'system', content: [{ type: 'text', text: 'So' }] }] },
    'expected string',
    { messages: [{ role: 'system', content: 'So' }] },
  ],
])

describe('what clients of a provider send', () => {
  test.each([
    ['anthropic', anthropicRefusals, anthropicHistory],
    ['openai chat', openaiChatRefusals, openaiChatHistory],
    ['openai responses', openaiResponsesRefusals, openaiResponsesHistory],
    ['gemini', geminiRefusals, geminiHistory],
    ['bedrock converse', bedrockConverseRefusals, bedrockConverseHistory],
    ['mistral', mistralRefusals, mistralHistory],
    ['ollama', ollamaRefusals, ollamaHistory],
    ['cohere', cohereRefusals, cohereHistory],
    ['ai sdk', aiSdkRefusals, vercelHistory],
  ])('%s takes it', (_, refusals, history) => {
    expect(refusals(history)).toEqual([])
  })

  test('an answer of another server of the shape is refused, whole', () => {
    expect(openaiChatRefusals(chatServerHistory)).toEqual([
      'messages[1].reasoning_content: Extra inputs are not permitted',
      'messages[1].annotations: Extra inputs are not permitted',
      'messages[1].tool_calls[0].index: Extra inputs are not permitted',
      'messages[3].reasoning: Extra inputs are not permitted',
      'messages[3].reasoning_details: Extra inputs are not permitted',
    ])
  })
})

describe('the packages of the AI SDK', () => {
  test.each(SENDERS)('version %s sends to %s the proof that is its own', async (version, provider) => {
    const sent = JSON.stringify(await sentBy(version, provider, vercelHistory.messages))
    const own = { anthropic: 'anthropic', openai: 'openaiResponses', google: 'gemini' } as const
    expect(sent).toContain(PROOFS[own[provider]])
  })

  test.each(SENDERS)(
    'version %s with %s throws at a part that it does not know',
    async (version, provider) => {
      const messages = [{ role: 'assistant', content: [{ type: 'source', sourceType: 'url', url: 'u' }] }]
      await expect(sentBy(version, provider, messages)).rejects.toThrow()
    },
  )
})
