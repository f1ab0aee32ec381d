import { describe, expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { toJson } from '../../../src/agents/to-json.ts'
import type { AgentEngine } from '../../../src/engine/index.ts'
import { numberedFrames } from '../../../src/faces/rest/frames/read-frames.ts'
import {
  calculator,
  chat,
  fanOut,
  nestedApproval,
  researchers,
  threeSteps,
  twoApprovals,
} from '../../fixtures/graphs.ts'
import { engineOf } from '../../kit/engine.ts'

interface Shown {
  readonly event: string
  readonly data: unknown
}

const RUN = '00000000-0000-4000-8000-000000000001'
const human = { messages: [{ type: 'human', content: 'go', id: '00000000-0000-4000-8000-00000000000a' }] }

/** The frames with each id and time as its place among those that came before it, because each run has others. */
function comparable(frames: readonly Shown[], runId: string, threadId: string): readonly Shown[] {
  const seen = new Map<string, string>()
  const text = JSON.stringify(frames)
    // The engine adds this id to the message after it has given the chunk, so that it depends on when the chunk is read.
    .replace(/"id":"run-[^"]*-tool-[^"]*",/g, '')
    .replaceAll(runId, RUN)
    .replaceAll(threadId, 'the-thread')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b/g, (id) => {
      if (!seen.has(id)) seen.set(id, `id-${seen.size}`)
      return seen.get(id)!
    })
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
  return JSON.parse(text) as readonly Shown[]
}

/** What `graph.stream` itself gives, as frames. */
async function direct(
  // biome-ignore lint/suspicious/noExplicitAny: the graphs have states of many types
  graph: any,
  input: unknown,
  modes: readonly string[],
  subgraphs: boolean,
  options: object = {},
): Promise<readonly Shown[]> {
  const threadId = 'direct-thread'
  const ids = { run_id: RUN, graph_id: 'a', assistant_id: 'a' }
  // The engine gives messages of tools their ids where the mode is on, so that all modes are asked for here as well.
  const names = ['values', 'updates', 'messages', 'tools', 'custom', 'tasks', 'checkpoints']
  const { MemorySaver } = await import('@langchain/langgraph')
  const runnable = graph.graph ?? graph
  runnable.checkpointer = new MemorySaver()
  const stream = await runnable.stream(input, {
    streamMode: names,
    subgraphs,
    runId: RUN,
    configurable: { run_id: RUN, thread_id: threadId },
    metadata: { thread_id: threadId, ...ids },
    ...options,
  })
  const frames: Shown[] = []
  for await (const chunk of stream) {
    const [namespace, mode, data] = subgraphs ? chunk : [[], ...chunk]
    if (!modes.includes(mode === 'messages' ? 'messages-tuple' : mode)) continue
    const { values, metadata, next } = Object(data)
    const shown = mode === 'checkpoints' ? { values, metadata, next } : data
    frames.push({ event: [mode, ...namespace].join('|'), data: toJson(shown) })
  }
  runnable.checkpointer = undefined
  return comparable(frames, RUN, threadId)
}

async function framesOf(
  engine: AgentEngine,
  threadId: string,
  runId: string,
  more: object = {},
): Promise<readonly (Shown & { readonly id: number })[]> {
  const frames: (Shown & { readonly id: number })[] = []
  for await (const batch of numberedFrames({ engine }, { threadId, principal: null, runId, ...more }))
    for (const { id, event, namespace, data } of batch)
      frames.push({
        id,
        event: [event, ...namespace].join('|'),
        data: JSON.parse(JSON.stringify(data) ?? 'null'),
      })
  return frames
}

/** What our engine and the frames give for the same. */
async function served(
  // biome-ignore lint/suspicious/noExplicitAny: the graphs have states of many types
  graph: any,
  input: unknown,
  modes: readonly string[],
  subgraphs: boolean,
  config: object = {},
): Promise<readonly Shown[]> {
  const engine = engineOf({ a: langgraph(graph) })
  const { runId } = await engine.start({
    threadId: 'served-thread',
    assistantId: 'a',
    input,
    classic: { modes, subgraphs },
    config: { configurable: {}, ...config },
  })
  const frames = await framesOf(engine, 'served-thread', runId)
  expect(frames[0]).toEqual({ id: 0, event: 'metadata', data: { run_id: runId, attempt: 1 } })
  expect(frames.map(({ id }) => id)).toEqual(frames.map((_, at) => at))
  return comparable(
    frames.slice(1).map(({ event, data }) => ({ event, data })),
    runId,
    'served-thread',
  )
}

const GRAPHS = {
  'an agent with a tool': [calculator, human],
  'a graph with a subgraph that asks': [nestedApproval, { notes: ['in'] }],
  'two questions at once': [twoApprovals, { notes: ['in'] }],
  'three steps': [() => threeSteps(), { notes: ['in'] }],
  sends: [() => fanOut(['x', 'y', 'z']), { notes: ['in'] }],
  'a deep agent': [researchers, human],
  'a chat': [() => chat(), human],
} as const

const MODES = [
  ['values'],
  ['updates'],
  ['messages-tuple'],
  ['tasks'],
  ['custom'],
  ['tools'],
  ['checkpoints'],
  ['values', 'updates', 'messages-tuple', 'custom', 'tasks', 'tools', 'checkpoints'],
] as const

describe.each(Object.entries(GRAPHS))(
  'the frames of %s are the chunks of graph.stream',
  (_, [graph, input]) => {
    test.each([true, false])(
      'with subgraphs: %s',
      async (subgraphs) => {
        for (const modes of MODES) {
          expect(await served(graph(), input, modes, subgraphs), modes.join()).toEqual(
            await direct(graph(), input, modes, subgraphs),
          )
        }
      },
      60_000,
    )
  },
)
