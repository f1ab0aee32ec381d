import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { AIMessageChunk } from '@langchain/core/messages'
import { build } from 'esbuild'
import { wrapAnthropic } from 'langsmith/wrappers/anthropic'
import { wrapOpenAI } from 'langsmith/wrappers/openai'
import type * as Tracing from '../../src/models/tracing/index.ts'
import { type Bench, least, type Row, runAlone, takeTurns, times } from './support/report.ts'

/**
 * Measures an observed stream against a bare loop over the same chunks, and against the wrappers of `langsmith` with a
 * client that sends nothing, the record of a whole call, and the import of it all over bare Node, each in CPU time.
 */

const ROUNDS = 7
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FILE = join(ROOT, '.tmp', `bench-tracing-${process.pid}`, 'tracing.mjs')

/** The sources as the package has them, in one file. */
async function load(): Promise<typeof Tracing> {
  const outdir = join(FILE, '..')
  mkdirSync(outdir, { recursive: true })
  process.on('exit', () => rmSync(outdir, { recursive: true, force: true }))
  const entryPoints = [join(ROOT, 'src/models/tracing/index.ts')]
  await build({
    entryPoints,
    outfile: FILE,
    bundle: true,
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  })
  return (await import(pathToFileURL(FILE).href)) as typeof Tracing
}

/** The data of a stream of chat completions: text, now and then a piece of a call, and counts. */
function chat(chunks: number): string[] {
  const chunk = (delta: object, others: object = {}) =>
    JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_790_000_000,
      model: 'gpt-x',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
      usage: null,
      ...others,
    })
  const call = (fields: object) => chunk({ tool_calls: [{ index: 0, ...fields }] })
  return Array.from({ length: chunks }, (_, at) => {
    if (at === 0) return chunk({ role: 'assistant', content: '' })
    if (at === chunks - 1)
      return chunk({}, { choices: [], usage: { prompt_tokens: 9, completion_tokens: chunks } })
    if (at === 9)
      return call({ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":"' } })
    return at % 10 === 9 ? call({ function: { arguments: 'b' } }) : chunk({ content: ' word' })
  })
}

/** The same text from Anthropic. */
function anthropic(chunks: number): string[] {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-x',
    content: [],
    usage: { input_tokens: 9, output_tokens: 1 },
  }
  const text = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ' word' } }
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...Array.from({ length: chunks - 5 }, () => text),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: chunks } },
    { type: 'message_stop' },
  ].map((event) => JSON.stringify(event))
}

interface Chunk {
  readonly choices?: readonly { readonly delta: { readonly content?: string } }[]
  readonly delta?: { readonly text?: string }
}

async function* source(list: readonly string[]): AsyncGenerator<Chunk> {
  for (const data of list) yield JSON.parse(data) as Chunk
}

async function read(stream: AsyncIterable<Chunk>): Promise<number> {
  let text = ''
  for await (const { choices, delta } of stream) text += choices?.[0]?.delta.content ?? delta?.text ?? ''
  return text.length
}

/** Microseconds of CPU time that one of `count` calls takes, so that other processes do not count. */
async function timed(count: number, work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

const silent = { createRun: async () => {}, updateRun: async () => {} }

function wrapped() {
  let list: readonly string[] = []
  const create = async () => source(list)
  const options = { client: silent as never, tracingEnabled: true }
  const openai = wrapOpenAI({ chat: { completions: { create } }, completions: { create } } as never, options)
  const claude = wrapAnthropic({ messages: { create, stream: create } } as never, options)
  const ask = async (client: unknown, given: readonly string[]) => {
    list = given
    const { chat: { completions } = {}, messages = completions } = client as {
      chat?: { completions: { create(body: object): Promise<AsyncIterable<Chunk>> } }
      messages?: { create(body: object): Promise<AsyncIterable<Chunk>> }
    }
    return read(await messages!.create({ model: 'x', stream: true, messages: [] }))
  }
  return {
    openai: (given: readonly string[]) => ask(openai, given),
    anthropic: (given: readonly string[]) => ask(claude, given),
  }
}

async function concatenated(list: readonly string[]): Promise<unknown> {
  let all: AIMessageChunk | undefined
  for await (const { choices } of source(list)) {
    const chunk = new AIMessageChunk({ content: choices?.[0]?.delta.content ?? '' })
    all = all ? all.concat(chunk) : chunk
  }
  return all
}

async function streams({ observeModelStream }: typeof Tracing): Promise<Row[]> {
  const lists = { short: chat(500), middle: chat(2_000), long: chat(8_000), anthropic: anthropic(2_000) }
  const peers = wrapped()
  const bare = (list: readonly string[]) => read(source(list))
  const ours = (list: readonly string[]) => {
    let records = 0
    const onEnd = () => void records++
    return read(observeModelStream(source(list), { onEnd })).then(() => {
      if (records !== 1) throw new Error('The stream made no record.')
    })
  }
  const perChunk = (list: readonly string[], run: (list: readonly string[]) => Promise<unknown>) => () =>
    timed(16_000, async () => {
      for (let left = 16_000; left > 0; left -= list.length) await run(list)
    })
  const results = await takeTurns(ROUNDS, {
    bare: perChunk(lists.middle, bare),
    ours: perChunk(lists.middle, ours),
    short: perChunk(lists.short, ours),
    long: perChunk(lists.long, ours),
    bareAnthropic: perChunk(lists.anthropic, bare),
    oursAnthropic: perChunk(lists.anthropic, ours),
    openai: perChunk(lists.middle, peers.openai),
    anthropic: perChunk(lists.anthropic, peers.anthropic),
  })
  const core = least((await takeTurns(2, { peer: perChunk(lists.middle, concatenated) })).peer)
  const row = (bench: string, mine: number, peer: number, most?: number): Row => ({
    bench,
    ours: `${mine.toFixed(2)} µs`,
    peer: `${peer.toFixed(2)} µs`,
    ratio: times(mine / peer),
    target: most === undefined ? '' : `<= ${most}x`,
    ...(most !== undefined && { met: mine / peer <= most }),
  })
  const { short, long } = results
  const [loop, mine, loopA, mineA] = [
    results.bare,
    results.ours,
    results.bareAnthropic,
    results.oursAnthropic,
  ].map(least) as [number, number, number, number]
  return [
    row('a chunk of chat, observed, vs a bare loop', mine, loop, 2),
    row('a chunk of Anthropic, observed, vs a bare loop', mineA, loopA, 2),
    row('the same, vs wrapOpenAI of langsmith', mine, least(results.openai)),
    row('the same, vs wrapAnthropic of langsmith', mineA, least(results.anthropic)),
    row('the same, vs concatenating chunks of @langchain/core', mine, core),
    row('a chunk of 8,000, vs a chunk of 500', least(long), least(short), 1.3),
  ]
}

const REQUEST = {
  model: 'gpt-x',
  temperature: 0.2,
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'What is the weather in Paris?' },
  ],
}
const RESPONSE = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'gpt-x',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Mild, with a light wind. '.repeat(10) },
      finish_reason: 'stop',
    },
  ],
  usage: {
    prompt_tokens: 80,
    completion_tokens: 40,
    total_tokens: 120,
    prompt_tokens_details: { cached_tokens: 20 },
  },
}

async function finals({ convertModelCall }: typeof Tracing): Promise<Row[]> {
  const CALLS = 50_000
  const repeat = (convert: () => unknown) => () =>
    timed(CALLS, () => {
      for (let i = 0; i < CALLS; i++) convert()
    })
  const results = await takeTurns(ROUNDS, {
    response: repeat(() => convertModelCall({ response: RESPONSE, format: 'openaiChat' })),
    call: repeat(() => convertModelCall({ request: REQUEST, response: RESPONSE })),
  })
  const row = (bench: string, time: number, target: string, met?: boolean): Row => ({
    bench,
    ours: `${time.toFixed(2)} µs`,
    peer: '',
    ratio: '',
    target,
    ...(met !== undefined && { met }),
  })
  const response = least(results.response)
  return [
    row('the record of a whole response of known format', response, '<= 1 µs', response <= 1),
    row('the record of a call with its request, format detected', least(results.call), ''),
  ]
}

function importing(): Row[] {
  const start = (code: string) => {
    const told = `${code}; const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)`
    return Number(execFileSync(process.execPath, ['--input-type=module', '-e', told], { encoding: 'utf8' }))
  }
  const spent: Record<'bare' | 'ours', number[]> = { bare: [], ours: [] }
  for (let round = 0; round < ROUNDS; round++) {
    spent.bare.push(start(''))
    spent.ours.push(start(`await import(${JSON.stringify(pathToFileURL(FILE).href)})`))
  }
  const [bare, ours] = [least(spent.bare), least(spent.ours)]
  return [
    {
      bench: 'importing tracing with all formats, over bare Node',
      ours: `${(ours - bare).toFixed(1)} ms`,
      peer: '',
      ratio: '',
      target: '<= 15 ms',
      met: ours - bare <= 15,
    },
  ]
}

export const tracing: Bench = async () => {
  const module = await load()
  return [...(await streams(module)), ...(await finals(module)), ...importing()]
}

await runAlone(import.meta.url, tracing)
