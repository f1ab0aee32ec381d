import type { Message } from '../../../src/messages/index.ts'
import {
  anthropicMessages,
  bedrockConverse,
  cohere,
  type Format,
  gemini,
  mistral,
  ollama,
  openaiChat,
  openaiResponses,
  vercel,
} from '../../../src/models/formats/index.ts'

/* Conversations as they stand in the requests of each provider's clients, with all that the provider gave. */

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PDF = 'JVBERi0xLjQKJSVFT0Y='
export const MEDIA = { PNG, PDF, CSV: 'YSxiCjEsMgo=', WAV: 'UklGRiQAAABXQVZF', SVG: 'PHN2Zy8+' }

/** Starts each proof of a thought, so that a test finds again in a request what a provider gave. */
export const PROOFS = {
  anthropic: 'proofAnthropic',
  openaiResponses: 'proofOpenai',
  gemini: 'proofGemini',
  bedrockConverse: 'proofBedrock',
} as const

export const anthropicHistory = {
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is in these?' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
        { type: 'image', source: { type: 'url', url: 'https://a.example/1.png' } },
        {
          type: 'document',
          title: 'Report',
          context: 'Of May.',
          source: { type: 'base64', media_type: 'application/pdf', data: PDF },
          citations: { enabled: true },
        },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Once upon' } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Let me look it up.', signature: `${PROOFS.anthropic}Signature1` },
        { type: 'redacted_thinking', data: `${PROOFS.anthropic}Redacted1` },
        { type: 'text', text: 'I search.' },
        { type: 'server_tool_use', id: 'srvtoolu_01', name: 'web_search', input: { query: 'ships' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_01',
          content: [
            {
              type: 'web_search_result',
              url: 'https://a.example',
              title: 'Ships',
              encrypted_content: 'enc',
              page_age: null,
            },
          ],
        },
        {
          type: 'text',
          text: 'It is a ship.',
          citations: [
            {
              type: 'web_search_result_location',
              url: 'https://a.example',
              title: 'Ships',
              cited_text: 'a ship',
              encrypted_index: 'e1',
            },
            {
              type: 'char_location',
              cited_text: 'Once',
              document_index: 1,
              document_title: null,
              start_char_index: 0,
              end_char_index: 4,
            },
          ],
        },
        { type: 'thinking', thinking: 'Now the weather.', signature: `${PROOFS.anthropic}Signature2` },
        { type: 'tool_use', id: 'toolu_01', name: 'weather', input: { city: 'Oslo' } },
        { type: 'tool_use', id: 'toolu_02', name: 'clock', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_01', content: 'Rain in Oslo' },
        {
          type: 'tool_result',
          tool_use_id: 'toolu_02',
          is_error: true,
          content: [
            { type: 'text', text: 'No clock' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
          ],
        },
        { type: 'text', text: 'And now?' },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'Take an umbrella.' }] },
  ],
}

export const openaiChatHistory = {
  messages: [
    { role: 'developer', content: 'Be terse.' },
    {
      role: 'user',
      name: 'Ann',
      content: [
        { type: 'text', text: 'Describe all of it.' },
        { type: 'image_url', image_url: { url: 'https://a.example/2.png', detail: 'low' } },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
        { type: 'input_audio', input_audio: { data: MEDIA.WAV, format: 'wav' } },
        { type: 'file', file: { file_data: `data:application/pdf;base64,${PDF}`, filename: 'may.pdf' } },
      ],
    },
    {
      role: 'assistant',
      content: 'I ask around.',
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'ask', arguments: '{"who":"Bob"}' } },
        { id: 'call_2', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'Bob is away' },
    { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: 'One row' }] },
    { role: 'assistant', content: 'Nobody is there.' },
    { role: 'user', content: 'Say it aloud.' },
    { role: 'assistant', content: null, audio: { id: 'audio_1' } },
    { role: 'user', content: 'Something bad.' },
    { role: 'assistant', content: null, refusal: 'I cannot say that.' },
  ],
}

/** What clients of other servers of this shape keep of an answer: all of it. */
export const chatServerHistory = {
  messages: [
    { role: 'user', content: 'Think aloud.' },
    {
      role: 'assistant',
      content: 'Here we go.',
      reasoning_content: 'They want thoughts.',
      refusal: null,
      annotations: [
        {
          type: 'url_citation',
          url_citation: { url: 'https://b.example', title: 'B', start_index: 0, end_index: 4 },
        },
      ],
      tool_calls: [
        {
          index: 0,
          id: 'functions.weather:0',
          type: 'function',
          function: { name: 'weather', arguments: '{"city":"Rome"}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'functions.weather:0', content: 'Sun in Rome' },
    {
      role: 'assistant',
      content: 'Sunny.',
      reasoning: 'Under another name.',
      reasoning_details: [{ type: 'reasoning.text', text: 'Under another name.', signature: null, index: 0 }],
    },
  ],
}

export const openaiResponsesHistory = {
  instructions: 'Be kind.',
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'Look at this.' },
        { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'low' },
        { type: 'input_file', filename: 'june.pdf', file_data: `data:application/pdf;base64,${PDF}` },
        { type: 'input_file', file_url: 'https://a.example/july.pdf' },
      ],
    },
    {
      type: 'reasoning',
      id: 'rs_0a1',
      summary: [{ type: 'summary_text', text: 'First a search.' }],
      encrypted_content: `${PROOFS.openaiResponses}Encrypted1`,
    },
    {
      type: 'web_search_call',
      id: 'ws_0a1',
      status: 'completed',
      action: { type: 'search', query: 'boats' },
    },
    {
      type: 'message',
      id: 'msg_0a1',
      role: 'assistant',
      status: 'completed',
      content: [
        {
          type: 'output_text',
          text: 'A boat, I think.',
          annotations: [
            { type: 'url_citation', url: 'https://c.example', title: 'C', start_index: 0, end_index: 6 },
          ],
        },
      ],
    },
    { role: 'user', content: 'Measure it.' },
    {
      type: 'reasoning',
      id: 'rs_0a2',
      summary: [],
      encrypted_content: `${PROOFS.openaiResponses}Encrypted2`,
    },
    {
      type: 'function_call',
      id: 'fc_0a1',
      call_id: 'call_m1',
      name: 'measure',
      arguments: '{"unit":"m"}',
      status: 'completed',
    },
    { type: 'custom_tool_call', id: 'ctc_0a1', call_id: 'call_m2', name: 'sql', input: 'SELECT 2' },
    { type: 'function_call_output', call_id: 'call_m1', output: 'Nine metres' },
    {
      type: 'custom_tool_call_output',
      call_id: 'call_m2',
      output: [
        { type: 'input_text', text: 'Two rows' },
        { type: 'input_image', image_url: `data:image/png;base64,${PNG}` },
      ],
    },
    {
      type: 'mcp_call',
      id: 'mcp_0a1',
      name: 'depth',
      server_label: 'sea',
      arguments: '{"at":"bay"}',
      output: 'deep',
    },
    {
      type: 'code_interpreter_call',
      id: 'ci_0a1',
      code: '1+1',
      container_id: 'cntr_1',
      status: 'completed',
      outputs: [{ type: 'logs', logs: '2' }],
    },
    { type: 'image_generation_call', id: 'ig_0a1', status: 'completed', result: PNG },
    {
      type: 'message',
      id: 'msg_0a2',
      role: 'assistant',
      status: 'completed',
      content: [
        { type: 'output_text', text: 'Nine metres long.', annotations: [] },
        { type: 'refusal', refusal: 'No more.' },
      ],
    },
  ],
}

export const geminiHistory = {
  systemInstruction: { parts: [{ text: 'Be clear.' }] },
  contents: [
    {
      role: 'user',
      parts: [
        { text: 'What do you see?' },
        { inlineData: { mimeType: 'image/png', data: PNG } },
        { fileData: { mimeType: 'application/pdf', fileUri: 'https://a.example/files/1' } },
      ],
    },
    {
      role: 'model',
      parts: [
        { text: 'Looking closely.', thought: true },
        { text: 'I compute.', thoughtSignature: `${PROOFS.gemini}Sig1` },
        { executableCode: { language: 'PYTHON', code: 'print(3)' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '3' } },
        {
          functionCall: { name: 'zoom', args: { by: 2 } },
          thoughtSignature: `${PROOFS.gemini}Sig2`,
        },
        { functionCall: { name: 'zoom', args: { by: 3 } } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { name: 'zoom', response: { result: 'Twice' } } },
        { functionResponse: { name: 'zoom', response: { result: 'Thrice' } } },
      ],
    },
    {
      role: 'model',
      parts: [{ text: 'A gull.' }, { inlineData: { mimeType: 'image/png', data: PNG } }],
    },
  ],
}

export const bedrockConverseHistory = {
  system: [{ text: 'Be polite.' }, { cachePoint: { type: 'default' } }],
  messages: [
    {
      role: 'user',
      content: [
        { text: 'Read it.' },
        { document: { format: 'pdf', name: 'August', source: { bytes: PDF } } },
        { image: { format: 'png', source: { bytes: PNG } } },
      ],
    },
    {
      role: 'assistant',
      content: [
        {
          reasoningContent: {
            reasoningText: { text: 'I read.', signature: `${PROOFS.bedrockConverse}Signature1` },
          },
        },
        { text: 'Reading.' },
        { toolUse: { toolUseId: 'tooluse_1', name: 'turn', input: { page: 2 } } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          toolResult: {
            toolUseId: 'tooluse_1',
            status: 'success',
            content: [{ json: { page: 'Two' } }, { text: 'Second page' }],
          },
        },
      ],
    },
    { role: 'assistant', content: [{ text: 'It is about fish.' }] },
  ],
}

export const mistralHistory = {
  messages: [
    { role: 'system', content: 'Be swift.' },
    { role: 'user', content: [{ type: 'text', text: 'Count the birds.' }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'One, two.' }] },
        { type: 'text', text: 'Two birds.' },
        { type: 'reference', reference_ids: [1] },
      ],
      tool_calls: [{ id: 'D681PevKs', function: { name: 'count', arguments: '{"of":"birds"}' } }],
      prefix: false,
    },
    { role: 'tool', name: 'count', tool_call_id: 'D681PevKs', content: 'Two' },
    { role: 'assistant', content: 'Two of them.' },
  ],
}

export const cohereHistory = {
  messages: [
    { role: 'user', content: 'Which is the tallest?' },
    {
      role: 'assistant',
      tool_plan: 'I look at heights.',
      tool_calls: [
        { id: 'rank_0aa', type: 'function', function: { name: 'rank', arguments: '{"by":"height"}' } },
      ],
    },
    {
      role: 'tool',
      tool_call_id: 'rank_0aa',
      content: [{ type: 'document', document: { id: 'd1', data: { tallest: 'The spruce' } } }],
    },
    {
      role: 'assistant',
      content: [{ type: 'text', text: 'The spruce is.' }],
      citations: [{ start: 0, end: 10, text: 'The spruce', sources: [{ type: 'tool', id: 'rank_0aa:0' }] }],
    },
  ],
}

export const ollamaHistory = {
  messages: [
    { role: 'user', content: 'Guess the fruit.', images: [PNG] },
    {
      role: 'assistant',
      content: '',
      thinking: 'It is round.',
      tool_calls: [{ function: { name: 'smell', arguments: { near: true } } }],
    },
    { role: 'tool', tool_name: 'smell', content: 'Sweet' },
    { role: 'assistant', content: 'An apple.' },
  ],
}

/** What `toResponseMessages` of the AI SDK leaves, over three providers. */
export const vercelHistory = {
  messages: [
    { role: 'system', content: 'Be warm.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Sing about it.' },
        { type: 'file', data: PDF, mediaType: 'application/pdf', filename: 'song.pdf' },
        { type: 'image', image: `data:image/png;base64,${PNG}` },
      ],
    },
    {
      role: 'assistant',
      content: [
        {
          type: 'reasoning',
          text: 'A tune.',
          providerOptions: { anthropic: { signature: `${PROOFS.anthropic}SignatureSdk` } },
        },
        { type: 'text', text: 'La la.' },
        {
          type: 'tool-call',
          toolCallId: 'call_sdk1',
          toolName: 'sing',
          input: { key: 'C' },
          providerOptions: { google: { thoughtSignature: `${PROOFS.gemini}SigSdk` } },
        },
      ],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'call_sdk1',
          toolName: 'sing',
          output: { type: 'json', value: { sung: 'Loudly' } },
        },
      ],
    },
    {
      role: 'assistant',
      content: [
        {
          type: 'reasoning',
          text: 'Done singing.',
          providerOptions: {
            openai: { itemId: 'rs_0b1', reasoningEncryptedContent: `${PROOFS.openaiResponses}EncryptedSdk` },
          },
        },
        { type: 'text', text: 'That was it.', providerOptions: { openai: { itemId: 'msg_0b1' } } },
      ],
    },
  ],
}

/** Each history with the format that reads it. */
export const histories: readonly (readonly [name: string, format: Format, request: object])[] = [
  ['anthropic', anthropicMessages, anthropicHistory],
  ['openaiChat', openaiChat, openaiChatHistory],
  ['chatServer', openaiChat, chatServerHistory],
  ['openaiResponses', openaiResponses, openaiResponsesHistory],
  ['gemini', gemini, geminiHistory],
  ['bedrockConverse', bedrockConverse, bedrockConverseHistory],
  ['mistral', mistral, mistralHistory],
  ['cohere', cohere, cohereHistory],
  ['ollama', ollama, ollamaHistory],
  ['vercel', vercel, vercelHistory],
]

const messages = new Map(
  histories.map(([name, format, request]) => [name, format.readRequest(request).messages]),
)

/** The messages of a history, as its format reads them: the same each time. */
export const read = (name: string): readonly Message[] => messages.get(name)!
