import type {
  ConverseCommandInput,
  ConverseCommandOutput,
  ConverseStreamCommandOutput,
  ConverseStreamOutput,
  InvokeModelCommandInput,
  InvokeModelCommandOutput,
  ResponseStream,
} from '@aws-sdk/client-bedrock-runtime'
import type { GenerateContentParameters, GenerateContentResponse } from '@google/genai'
import { expect, expectTypeOf, test } from 'vitest'
import type { Writer } from '../../src/agents/function/define-agent.ts'
import { bedrockConverse, type Format, gemini } from '../../src/models/formats/index.ts'
import { observeModelStream } from '../../src/models/tracing/index.ts'

/** The SDKs' types of requests, responses and chunks. */
type Sdk = [
  GenerateContentParameters,
  GenerateContentResponse,
  ConverseCommandInput,
  ConverseCommandOutput,
  ConverseStreamOutput,
  InvokeModelCommandInput,
  InvokeModelCommandOutput,
  ResponseStream,
]
type ModelStream = Parameters<Writer['model']>[0]
type Gemini = Promise<AsyncGenerator<GenerateContentResponse>>
type Converse = NonNullable<ConverseStreamCommandOutput['stream']>

test('readers accept the types of the SDKs', () => {
  type Reader = ReturnType<Format['readStream']>
  expectTypeOf<Sdk[number]>().toExtend<Parameters<Format['readRequest']>[0]>()
  expectTypeOf<Sdk[number]>().toExtend<Parameters<Format['readResponse']>[0]>()
  expectTypeOf<Sdk[number]>().toExtend<Parameters<Reader['push']>[0]>()
})

test('an observed stream keeps its type', () => {
  const same = <Given extends object>(stream: Given) => observeModelStream(stream)
  expectTypeOf(same<Gemini>).returns.toEqualTypeOf<Gemini>()
  expectTypeOf(same<Converse>).returns.toEqualTypeOf<Converse>()
})

test('model() accepts streams of the SDKs', () => {
  expectTypeOf<Gemini>().toExtend<ModelStream>()
  expectTypeOf<AsyncIterable<ConverseStreamOutput>>().toExtend<ModelStream>()
})

test("requests of the SDKs' types are read", () => {
  const google: GenerateContentParameters = { model: 'm', contents: 'a' }
  const bedrock: ConverseCommandInput = {
    modelId: 'm',
    messages: [{ role: 'user', content: [{ text: 'a' }] }],
  }
  for (const [format, request] of [
    [gemini, google],
    [bedrockConverse, bedrock],
  ] as const)
    expect(format.readRequest(request)).toMatchObject({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }],
    })
})
