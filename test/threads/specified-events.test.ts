import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { openaiChat } from '../../src/models/formats/index.ts'
import { calculator, fanOut, nestedApproval, threeSteps } from '../fixtures/graphs.ts'
import { engineOf, start, transcript } from '../kit/engine.ts'
import type { WireEvent } from '../kit/events.ts'

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'chatcmpl',
  object: 'chat.completion.chunk',
  model: 'gpt',
  choices: [{ index: 0, delta, finish_reason }],
})

/** Two calls whose arguments come in turns, with text between them. */
async function* interleaved() {
  yield chunk({ role: 'assistant', content: 'Both ' })
  const calls = [0, 1].map((index) => ({
    index,
    id: `call_${index}`,
    function: { name: 'add', arguments: '{"a":' },
  }))
  for (const call of calls) yield chunk({ tool_calls: [call] })
  yield chunk({ content: 'sums.' })
  for (const index of [0, 1]) yield chunk({ tool_calls: [{ index, function: { arguments: `${index}}` } }] })
  yield chunk({}, 'tool_calls')
}

const everything = defineAgent({
  async run({ message, model, tool, subagent, custom, setState }) {
    const writer = message()
    await writer.reasoning('Hm.')
    await writer.text('Well.')
    await writer.end()
    await model(interleaved(), openaiChat)
    await tool('look', { at: 'x' }, async ({ output }) => {
      await output('…')
      return { seen: true }
    })
    await tool('fail', {}, () => Promise.reject(new Error('no'))).catch(() => {})
    await subagent('helper', 'Help', async ({ message: say }) => void (await say('Helping.')))
    await custom('progress', 1)
    await custom({ plain: true })
    await setState({ note: 'noted' })
  },
})
const asking = defineAgent({
  async run({ interrupt }) {
    await interrupt({ question: 'Sure?' })
  },
})

const human = { messages: [{ type: 'human', content: 'What is 2 + 3?' }] }
const agents: readonly (readonly [name: string, agent: Agent, input: unknown])[] = [
  ['a function', everything, human],
  ['a function that asks', asking, human],
  ['a graph with tools', langgraph(calculator()), human],
  ['a graph of nodes', langgraph(threeSteps()), { notes: ['in'] }],
  ['a graph with parallel tasks', langgraph(fanOut(['x', 'y'])), { notes: ['in'] }],
  ['a graph that asks in a subgraph', langgraph(nestedApproval()), { notes: ['in'] }],
]

async function eventsOf(agent: Agent, input: unknown): Promise<readonly WireEvent[]> {
  const engine = engineOf({ a: agent }, { onError: () => {} })
  await start(engine, 't', input)
  const events = await transcript(engine, 't')
  await engine.close()
  return events
}

const transcripts = await Promise.all(
  agents.map(async ([name, agent, input]) => [name, await eventsOf(agent, input)] as const),
)

/** What is wrong with an event, in the words of the compiler. */
type Complaints = readonly string[]

/**
 * Where events of several lists are not met by the specification's own types. One program has all lists, because most of its time goes
 * into the types.
 */
function complaintsAbout(lists: readonly (readonly unknown[])[]): readonly Complaints[] {
  const texts = new Map(
    lists.map((events, list) => [
      fileURLToPath(new URL(`events-${list}.ts`, import.meta.url)),
      [
        "import type { Event } from '@langchain/protocol'",
        ...events.map((event, at) => `const _${at}: Event = ${JSON.stringify(event)}`),
        'export {}',
      ].join('\n'),
    ]),
  )
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts'],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.fileExists = (path) => texts.has(path) || fileExists(path)
  host.readFile = (path) => texts.get(path) ?? readFile(path)
  host.getSourceFile = (path, ...rest) => {
    const text = texts.get(path)
    if (text === undefined) return getSourceFile(path, ...rest)
    return ts.createSourceFile(path, text, ts.ScriptTarget.ES2022)
  }
  const program = ts.createProgram([...texts.keys()], options, host)
  return [...texts].map(([name, text], list) => {
    const source = program.getSourceFile(name)!
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
    return found.map(({ messageText, start = 0 }) => {
      const at = text.slice(0, start).split('\n').length - 2
      const message = ts.flattenDiagnosticMessageText(messageText, ' ').slice(0, 1_000)
      return `${at}: ${message} ${JSON.stringify(lists[list]![at]).slice(0, 400)}`
    })
  })
}

/**
 * The event without what docs/protocol.md §5.3, §5.4 and §5.8 have beyond the specification: the run's id in `lifecycle`, the node of
 * `updates`, and `usage` while a message is written, which LangGraph's own servers send too.
 */
function specifiedPart(event: WireEvent): readonly object[] {
  const { method, params } = event
  const { run_id, ...data } = params.data as Record<string, unknown>
  if (method === 'lifecycle') return [{ ...event, params: { ...params, data } }]
  if (method === 'updates') {
    const { namespace, timestamp } = params
    return [{ ...event, params: { namespace, timestamp, data: params.data } }]
  }
  return method === 'messages' && data.event === 'usage' ? [] : [event]
}

const [, [first]] = transcripts[0]!
const broken = [
  { ...first, seq: 'one' },
  { ...first, method: 'lifecycle', params: { namespace: [], timestamp: 1, data: {} } },
]
const lists = transcripts.map(([, events]) => events.flatMap(specifiedPart))
const complaints = complaintsAbout([...lists, ...broken.map((event) => [event])])

test.each(transcripts.map(([name], at) => [name, at] as const))(
  'every event of %s is one of the specification',
  (_, at) => {
    expect(transcripts[at]![1].length).toBeGreaterThan(3)
    expect(complaints[at]).toEqual([])
  },
)

test('an event that is none of the specification is found', () => {
  for (const found of complaints.slice(lists.length)) expect(found).toHaveLength(1)
  expect(complaints.slice(lists.length)).toHaveLength(broken.length)
})

test.each(transcripts)('the blocks of a message of %s do not interleave, and count from 0', (_, events) => {
  const open = new Map<string, number>()
  const counts = new Map<string, number>()
  for (const { method, params } of events) {
    if (method !== 'messages') continue
    const { event, index } = params.data as { event: string; index?: number }
    const key = JSON.stringify([params.namespace, params.node])
    if (event === 'content-block-start') {
      expect(open.has(key)).toBe(false)
      open.set(key, index!)
      const count = counts.get(key) ?? 0
      expect(index).toBeLessThanOrEqual(count)
      counts.set(key, Math.max(count, index! + 1))
    } else if (event === 'content-block-delta') expect(index).toBe(open.get(key))
    else if (event === 'content-block-finish') {
      expect(index).toBe(open.get(key))
      open.delete(key)
    } else {
      expect(open.has(key)).toBe(event === 'usage' && open.has(key))
      if (event === 'message-start') counts.delete(key)
    }
  }
})
