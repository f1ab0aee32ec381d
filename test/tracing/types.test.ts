import type { Message as ClaudeMessage, RawMessageStreamEvent } from '@anthropic-ai/sdk/resources/messages'
import type { Span, Tracer } from '@opentelemetry/api'
import type { StreamTextResult, TextStreamPart, ToolSet } from 'ai'
import type { FastifyInstance } from 'fastify'
import type { Context } from 'hono'
import type { Client } from 'langsmith'
import type { APIPromise } from 'openai'
import type { ChatCompletionChunk } from 'openai/resources'
import type { Stream } from 'openai/streaming'
import { expectTypeOf, test } from 'vitest'
import type { Writer } from '../../src/agents/function/define-agent.ts'
import { type convertModelCall, observeModelStream } from '../../src/models/tracing/index.ts'
import type { langsmithSink } from '../../src/models/tracing/sinks/langsmith.ts'
import type { openTelemetrySink } from '../../src/models/tracing/sinks/opentelemetry.ts'
import type { fastifyThreadMetadata, honoThreadMetadata } from '../../src/models/tracing/thread/middleware.ts'

type ModelStream = Parameters<Writer['model']>[0]
type Sdk = {
  readonly openai: APIPromise<Stream<ChatCompletionChunk>>
  readonly anthropic: AsyncIterable<RawMessageStreamEvent>
  readonly ai: StreamTextResult<ToolSet, never>['fullStream']
}

test('observed streams of the SDKs keep their types', () => {
  const same = <Given extends object>(stream: Given) => observeModelStream(stream)
  expectTypeOf(same<Sdk['openai']>).returns.toEqualTypeOf<Sdk['openai']>()
  expectTypeOf(same<Sdk['ai']>).returns.toEqualTypeOf<Sdk['ai']>()
})

test('model() accepts streams of the SDKs', () => {
  expectTypeOf<Sdk['openai']>().toExtend<ModelStream>()
  expectTypeOf<Sdk['anthropic']>().toExtend<ModelStream>()
  expectTypeOf<Sdk['ai']>().toExtend<ModelStream>()
  expectTypeOf<ReadableStream<TextStreamPart<ToolSet>>>().toExtend<ModelStream>()
})

test('convertModelCall accepts responses of the SDKs', () => {
  expectTypeOf<ClaudeMessage>().toExtend<Parameters<typeof convertModelCall>[0]['response']>()
})

test('clients, tracers and frameworks need no casts', () => {
  expectTypeOf<{ client: Client }>().toExtend<NonNullable<Parameters<typeof langsmithSink>[0]>>()
  expectTypeOf<{ tracer: Tracer }>().toExtend<Parameters<typeof openTelemetrySink>[0]>()
  expectTypeOf<Record<string, string>>().toExtend<Parameters<Span['setAttributes']>[0]>()
  expectTypeOf<FastifyInstance>().toExtend<Parameters<ReturnType<typeof fastifyThreadMetadata>>[0]>()
  expectTypeOf<Context>().toExtend<Parameters<ReturnType<typeof honoThreadMetadata>>[0]>()
})
