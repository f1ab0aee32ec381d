import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { AIMessageChunk } from '@langchain/core/messages'
import { build } from 'esbuild'
import type * as Messages from '../../src/messages/index.ts'
import type * as Formats from '../../src/models/formats/index.ts'
import { type Bench, least, median, type Row, runAlone, takeTurns, times } from './support/report.ts'

/**
 * Measures what a whole response costs, and a stream of JSON texts against a bare loop that parses them and joins their text.
 * The peer of streams is the concatenation of LangChain's message chunks.
 */

const ROUNDS = 40
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const TEXT = 'The weather in Paris is mild today, with a light wind from the west and little rain. '.repeat(3)
const ARGS = { city: 'Paris', unit: 'celsius' }
const CALL = { name: 'get_weather', arguments: JSON.stringify(ARGS) }

const RESPONSES: Readonly<Record<string, object>> = {
  openaiChat: {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'gpt-x',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: TEXT,
          refusal: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: CALL }],
        },
        finish_reason: 'tool_calls',
        logprobs: null,
      },
    ],
    usage: {
      prompt_tokens: 80,
      completion_tokens: 40,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 20, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 8, audio_tokens: 0 },
    },
    service_tier: 'default',
    system_fingerprint: 'fp_1',
  },
  anthropicMessages: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-x',
    content: [
      { type: 'text', text: TEXT },
      { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: ARGS },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: {
      input_tokens: 60,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 20,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 40,
      service_tier: 'standard',
    },
  },
  openaiResponses: {
    id: 'resp_1',
    object: 'response',
    created_at: 1_790_000_000,
    status: 'completed',
    model: 'gpt-x',
    output: [
      { type: 'reasoning', id: 'rs_1', summary: [] },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: TEXT, annotations: [] }],
      },
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', status: 'completed', ...CALL },
    ],
    usage: {
      input_tokens: 80,
      input_tokens_details: { cached_tokens: 20 },
      output_tokens: 40,
      output_tokens_details: { reasoning_tokens: 8 },
      total_tokens: 120,
    },
  },
  gemini: {
    candidates: [
      {
        index: 0,
        content: {
          role: 'model',
          parts: [{ text: TEXT }, { functionCall: { name: 'get_weather', args: ARGS } }],
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: {
      promptTokenCount: 80,
      candidatesTokenCount: 32,
      thoughtsTokenCount: 8,
      totalTokenCount: 120,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 80 }],
    },
    modelVersion: 'gemini-x',
    responseId: 'r1',
  },
  bedrockConverse: {
    output: {
      message: {
        role: 'assistant',
        content: [{ text: TEXT }, { toolUse: { toolUseId: 't1', name: 'get_weather', input: ARGS } }],
      },
    },
    stopReason: 'tool_use',
    usage: { inputTokens: 60, outputTokens: 40, totalTokens: 120, cacheReadInputTokens: 20 },
    metrics: { latencyMs: 700 },
  },
}

type Chunk = { readonly id: string; readonly choices: readonly { readonly delta: { content?: string } }[] }

/** The data of a stream of chat completions: text as it is usually cut, a parallel pair of calls, and counts. */
function chatStream(chunks: number): string[] {
  const chunk = (delta: object, others: object = {}) =>
    JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_790_000_000,
      model: 'gpt-x',
      service_tier: 'default',
      system_fingerprint: 'fp_1',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
      usage: null,
      ...others,
    })
  return Array.from({ length: chunks }, (_, at) => {
    if (at === 0) return chunk({ role: 'assistant', content: '' })
    if (at === chunks - 1)
      return chunk({}, { choices: [], usage: { prompt_tokens: 9, completion_tokens: chunks } })
    if (at % 10 !== 9) return chunk({ content: ' word' })
    const index = (at / 10) & 1
    const first = at < 20 ? { id: `call_${index}`, type: 'function' } : {}
    const name = at < 20 ? { name: 'get_weather' } : {}
    return chunk({
      tool_calls: [{ index, ...first, function: { ...name, arguments: at < 20 ? '{"a":"' : 'b' } }],
    })
  })
}

interface Modules {
  readonly formats: typeof Formats
  readonly messages: typeof Messages
}

/** Bundles the sources as the package does, because a loader that compiles on the fly adds to the cost of functions. */
async function load(): Promise<Modules> {
  const outdir = join(ROOT, '.tmp', `bench-formats-${process.pid}`)
  mkdirSync(outdir, { recursive: true })
  process.on('exit', () => rmSync(outdir, { recursive: true, force: true }))
  await build({
    stdin: {
      contents: `export * as formats from './src/models/formats/index.ts'; export * as messages from './src/messages/index.ts'`,
      resolveDir: ROOT,
    },
    outfile: join(outdir, 'formats.mjs'),
    bundle: true,
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  })
  return (await import(pathToFileURL(join(outdir, 'formats.mjs')).href)) as Modules
}

/** Microseconds that one call takes. */
async function timed(calls: number, call: () => unknown): Promise<number> {
  const start = process.hrtime.bigint()
  for (let i = 0; i < calls; i++) call()
  return Number(process.hrtime.bigint() - start) / 1000 / calls
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes that one call allocates. There are so few calls that nothing is collected meanwhile. */
function garbage(call: () => unknown): number {
  const CALLS = 100
  collect()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < CALLS; i++) call()
  return (process.memoryUsage().heapUsed - before) / CALLS
}

async function finals({ formats }: Modules): Promise<Row[]> {
  const reads = Object.fromEntries(
    Object.entries(RESPONSES).map(([name, response]) => {
      const format = (formats as unknown as Record<string, Formats.Format>)[name]!
      return [name, () => format.readResponse(response)]
    }),
  )
  for (const read of Object.values(reads)) await timed(20_000, read)
  const results = await takeTurns(
    ROUNDS,
    Object.fromEntries(Object.entries(reads).map(([name, read]) => [name, () => timed(2_000, read)])),
  )
  return Object.entries(reads).flatMap(([name, read]): Row[] => {
    const time = least(results[name]!)
    const bytes = median(Array.from({ length: 21 }, () => garbage(read)))
    return [
      {
        bench: `${name}: a whole response`,
        ours: `${time.toFixed(2)} µs`,
        peer: '',
        ratio: '',
        target: '<= 1 µs',
        met: time <= 1,
      },
      {
        bench: `${name}: what it leaves behind, the result among it`,
        ours: `${bytes.toFixed(0)} B`,
        peer: '',
        ratio: '',
        target: '<= 1024 B',
        met: bytes <= 1024,
      },
    ]
  })
}

async function streams({ formats, messages }: Modules): Promise<Row[]> {
  const lists = { short: chatStream(500), middle: chatStream(2000), long: chatStream(8000) }

  function bare(list: readonly string[]): number {
    let text = ''
    for (const data of list) text += (JSON.parse(data) as Chunk).choices[0]?.delta.content ?? ''
    return text.length
  }

  /** Parses and reads a stream, as tracing and `model()` do. */
  function read(list: readonly string[]): unknown {
    const reader = formats.openaiChat.readStream()
    const accumulator = messages.createAccumulator()
    for (const data of list) for (const event of reader.push(JSON.parse(data))) accumulator.push(event)
    for (const event of reader.end()) accumulator.push(event)
    return accumulator.messages()
  }

  function langchain(list: readonly string[]): unknown {
    let all: AIMessageChunk | undefined
    for (const data of list) {
      const { id, choices } = JSON.parse(data) as Chunk
      const chunk = new AIMessageChunk({ id, content: choices[0]?.delta.content ?? '' })
      all = all ? all.concat(chunk) : chunk
    }
    return all
  }

  const perChunk = (list: readonly string[], run: (list: readonly string[]) => unknown) => {
    const rounds = Math.max(1, Math.round(8_000 / list.length))
    return async () => (await timed(rounds, () => run(list))) / list.length
  }
  const results = await takeTurns(ROUNDS, {
    bare: perChunk(lists.middle, bare),
    ours: perChunk(lists.middle, read),
    short: perChunk(lists.short, read),
    long: perChunk(lists.long, read),
  })
  const peer = least((await takeTurns(6, { peer: perChunk(lists.middle, langchain) })).peer)
  const [loop, ours] = [least(results.bare), least(results.ours)]
  const growth = least(results.long) / least(results.short)
  const micros = (value: number) => `${value.toFixed(2)} µs`
  return [
    {
      bench: 'a chunk of 2,000, parsed and read to a message, vs parsing and joining text',
      ours: micros(ours),
      peer: micros(loop),
      ratio: times(ours / loop),
      target: '<= 2x',
      met: ours / loop <= 2,
    },
    {
      bench: 'the same, vs concatenating the chunks of @langchain/core (text alone)',
      ours: micros(ours),
      peer: micros(peer),
      ratio: times(ours / peer),
      target: '',
    },
    {
      bench: 'a chunk of 8,000, vs a chunk of 500',
      ours: micros(least(results.long)),
      peer: micros(least(results.short)),
      ratio: times(growth),
      target: '<= 1.3x',
      met: growth <= 1.3,
    },
  ]
}

export const formats: Bench = async () => {
  const modules = await load()
  return [...(await finals(modules)), ...(await streams(modules))]
}

await runAlone(import.meta.url, formats)
