import { BedrockRuntime } from '@aws-sdk/client-bedrock-runtime'
import { GoogleGenAI } from '@google/genai'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import { Ollama } from 'ollama'
import * as v from 'valibot'
import { expect, onTestFinished, test } from 'vitest'
import { scriptedModel, toolCallsOf } from '../../src/agents/testing.ts'
import { createAgentEngine, defineAgent, tool } from '../../src/index.ts'
import { bedrock, gemini, ollama } from '../../src/models/formats/models.ts'
import { converse, PARAMETERS, SCRIPT } from '../formats/calls/converse.ts'
import { bedrockStream, geminiStream, ollamaStream, openProvider } from '../formats/calls/provider.ts'
import { bedrockConverseRefusals, geminiRefusals, ollamaRefusals } from '../formats/oracle/index.ts'

type Asked = Record<string, unknown>

/** The fields of requests that an oracle checks. */
const only = (asked: readonly Asked[], ...fields: readonly string[]) =>
  asked.map((request) =>
    Object.fromEntries(fields.flatMap((key) => (key in request ? [[key, request[key]]] : []))),
  )

const provider = async (...given: Parameters<typeof openProvider>) => {
  const opened = await openProvider(...given)
  onTestFinished(opened.close)
  return opened
}

test('gemini asks through the SDK of Google', async () => {
  const { origin, asked } = await provider(geminiStream, SCRIPT)
  const client = new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: origin } })
  await converse(gemini('gemini-3-pro', client, { temperature: 0 }))
  expect(only(asked, 'systemInstruction', 'contents').flatMap(geminiRefusals)).toEqual([])
  expect(asked[2]).toMatchObject({
    systemInstruction: { parts: [{ text: 'You help with orders.' }] },
    tools: [
      {
        functionDeclarations: [
          { name: 'refund', description: 'Refunds an order', parametersJsonSchema: PARAMETERS },
        ],
      },
    ],
    generationConfig: { temperature: 0 },
  })
  expect((asked[2]!.contents as { role: string }[]).map(({ role }) => role)).toEqual([
    'user',
    'model',
    'user',
    'model',
    'user',
  ])
})

test('bedrock asks through the SDK of Amazon', async () => {
  const { origin, asked } = await provider(bedrockStream, SCRIPT, { http2: true })
  const client = new BedrockRuntime({
    region: 'us-east-1',
    endpoint: origin,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  })
  onTestFinished(() => client.destroy())
  await converse(bedrock('anthropic.claude-sonnet-4-5', client, { inferenceConfig: { maxTokens: 99 } }))
  expect(only(asked, 'system', 'messages').flatMap(bedrockConverseRefusals)).toEqual([])
  expect(asked[2]).toMatchObject({
    system: [{ text: 'You help with orders.' }],
    toolConfig: {
      tools: [
        {
          toolSpec: {
            name: 'refund',
            description: 'Refunds an order',
            inputSchema: { json: PARAMETERS },
          },
        },
      ],
    },
    inferenceConfig: { maxTokens: 99 },
  })
  expect(asked[2]!.messages).toHaveLength(5)
})

test('bedrock names the tools of a thread to a model that has none any more', async () => {
  const { origin, asked } = await provider(bedrockStream, ['Hello.'], { http2: true })
  const client = new BedrockRuntime({
    region: 'us-east-1',
    endpoint: origin,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  })
  onTestFinished(() => client.destroy())
  const messages = [
    { role: 'user', content: [{ type: 'text', text: 'Refund.' }] },
    { role: 'assistant', content: [{ type: 'toolCall', id: 'a', name: 'refund', args: {} }] },
    { role: 'tool', toolCallId: 'a', name: 'refund', content: [{ type: 'text', text: 'Done.' }] },
    { role: 'user', content: [{ type: 'text', text: 'And?' }] },
  ] as const
  for await (const _ of (await bedrock('m', client).stream({ messages })) as AsyncIterable<unknown>);
  expect(asked[0]?.toolConfig).toEqual({
    tools: [{ toolSpec: { name: 'refund', inputSchema: { json: { type: 'object' } } } }],
  })
})

test('ollama asks through the SDK of Ollama', async () => {
  const { origin, asked } = await provider(ollamaStream, SCRIPT)
  await converse(ollama('qwen3', new Ollama({ host: origin }), { options: { temperature: 0 } }))
  expect(only(asked, 'messages').flatMap(ollamaRefusals)).toEqual([])
  expect(asked[2]).toMatchObject({
    model: 'qwen3',
    stream: true,
    options: { temperature: 0 },
    tools: [
      {
        type: 'function',
        function: { name: 'refund', description: 'Refunds an order', parameters: PARAMETERS },
      },
    ],
  })
  expect(asked[2]!.messages).toHaveLength(6)
})

const arktyped = tool({ input: type({ order: 'number' }), run: ({ order }) => order + 1 })
const valibotted = tool({
  input: toStandardJsonSchema(v.object({ order: v.number() })),
  run: ({ order }) => order + 1,
})

test.each([
  ['arktype', arktyped, /must be a number/],
  ['valibot', valibotted, /Expected number/],
])('a schema of %s types and checks the arguments, and the model gets it', async (_, add, sentence) => {
  const calls = [1, 'two'].map((order) => ({ name: 'add', args: { order } }))
  const model = scriptedModel([{ calls }, 'Done.'])
  const engine = createAgentEngine({ agents: { agent: defineAgent({ model, tools: { add } }) } })
  onTestFinished(() => engine.close())
  const { messages } = await engine.run({ input: 'Go' })
  const [right, wrong] = toolCallsOf(messages)
  expect([right?.result, wrong?.status]).toEqual(['2', 'error'])
  expect(wrong?.result).toMatch(sentence)
  expect(model.inputs[0]?.tools?.[0]?.parameters).toEqual(PARAMETERS)
})

test('a schema of valibot alone is refused with what to do', () => {
  expect(() => tool({ input: v.object({ order: v.number() }), run: () => 1 })).toThrow(
    /wrap a schema of valibot in toStandardJsonSchema/,
  )
})
