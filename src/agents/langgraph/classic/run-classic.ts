import type { StreamModesRun } from '../../agent.ts'
import { toJson } from '../../to-json.ts'
import {
  type ClassicOptions,
  type EngineEvent,
  type Graph,
  type GraphChunk,
  outsideAnyRun,
  type RunOptions,
} from '../graph.ts'
import { createChunkReader } from './chunks.ts'
import { createCallWatch } from './messages.ts'

const PROTOCOL_MODES = ['values', 'updates', 'messages', 'tools', 'custom', 'tasks']

/** The events of a run in the format of version 3, by chunk, and the end of the graph's own work. */
export interface ClassicStream {
  readonly events: AsyncIterable<readonly EngineEvent[]>
  /** Settles when the graph has stopped, even if its events are not read to the end. */
  settled(): Promise<unknown>
}

/**
 * Runs a graph with `graph.stream`, where messages stay as the model sent them. For clients that request the
 * events of every runnable, `streamEvents` version 2 contains the same chunks.
 */
export async function streamClassic(
  graph: Graph,
  input: unknown,
  options: RunOptions,
  classic: StreamModesRun,
): Promise<ClassicStream> {
  const wanted = new Set(classic.modes)
  // The engine provides complete checkpoints only in this mode.
  const modes =
    wanted.has('debug') || wanted.has('checkpoints') ? [...PROTOCOL_MODES, 'debug'] : PROTOCOL_MODES
  const calls = createCallWatch()
  const asked = {
    ...options,
    // Any version except the third streams chunks. If a version is set, the engine reports the checkpoint of
    // the next values.
    version: 'v2' as const,
    streamMode: modes,
    subgraphs: true as const,
    callbacks: [calls.handler],
  }
  const source = wanted.has('events') ? graph.streamEvents(input, asked) : chunksOf(graph, input, asked)
  let rest: Promise<unknown> = Promise.resolve()

  async function* events(): AsyncGenerator<readonly EngineEvent[], void, undefined> {
    const reader = createChunkReader(classic, calls)
    const chunks = source[Symbol.asyncIterator]()
    let isOver = false
    try {
      for (;;) {
        const step = await chunks.next()
        if (step.done) break
        yield wanted.has('events')
          ? fromEvent(step.value as RunnableEvent)
          : reader.read(step.value as GraphChunk)
      }
      isOver = true
      yield reader.end('completed')
    } catch (error) {
      isOver = true
      yield reader.end('failed')
      throw error
    } finally {
      if (!isOver) rest = drain(chunks)
    }

    /** The chunks of the graph itself arrive as events of its run. */
    function fromEvent(event: RunnableEvent): readonly EngineEvent[] {
      if (event.tags?.includes('langsmith:hidden')) return []
      if (event.event === 'on_chain_stream' && event.run_id === options.runId)
        return reader.read(event.data?.chunk as GraphChunk)
      return [{ method: 'chunks', params: { namespace: [], data: { mode: 'events', data: toJson(event) } } }]
    }
  }

  return { events: events(), settled: () => rest }
}

/**
 * The chunks of a graph from its engine. `stream` would wrap each chunk in three Web streams, and set up the
 * run's callbacks again for each.
 */
function chunksOf(graph: Graph, input: unknown, options: ClassicOptions): AsyncIterable<unknown> {
  const chunks = graph._streamIterator(input, options)
  return {
    [Symbol.asyncIterator]: () => ({ next: () => outsideAnyRun(() => chunks.next()) }),
  }
}

/** An event of `streamEvents` version 2. */
interface RunnableEvent {
  readonly event: string
  readonly run_id: string
  readonly tags?: readonly string[]
  readonly data?: { readonly chunk?: unknown }
}

/** Reads a stopped stream to its end, which is when the graph has ended. */
async function drain(chunks: AsyncIterator<unknown>): Promise<void> {
  try {
    while (!(await chunks.next()).done);
  } catch {
    // It was stopped, and its error is the error of the run.
  }
}
