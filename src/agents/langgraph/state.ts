import { AgentwireError } from '../../core/errors.ts'
import type { CheckpointConfig } from '../../storage/checkpointer/checkpointer.ts'
import { hooked } from '../../storage/checkpointer/hooks.ts'
import type { Agent, HistoryOptions, StateAddress, StateSnapshot } from '../agent.ts'
import { configOf, historyOf } from '../checkpoint-config.ts'
import { AgentInputError, AgentRefusal } from '../errors.ts'
import { commandFor } from './command.ts'
import { type Graph, withStorage } from './graph.ts'
import { rememberFailures, withTurns } from './saver-views.ts'
import { messageOf, toSnapshot, withoutAnswered } from './snapshot.ts'
import { readUnknownGraph } from './unknown-graph.ts'

/** Reads and writes the state of a graph, whose own `checkpointer` may be `false`. */
export const stateOf = (
  graph: Graph,
): Required<Pick<Agent, 'getState' | 'getHistory' | 'updateState' | 'bulkUpdateState'>> => ({
  getState: (at, options) => getState(graph, at, options?.subgraphs ?? false),
  getHistory: (at, options = {}) => getHistory(graph, at, options),
  updateState: (at, { values, asNode }) =>
    write(graph, at, async (target, place) => {
      requireOwnNode(target, asNode)
      const node = asNode ?? (await defaultNode(target, place, values))
      return target.updateState(ownConfig(target, place), values, node)
    }),
  bulkUpdateState: (at, steps) =>
    write(graph, at, async (target, place) => {
      for (const { asNode } of steps.flat()) requireOwnNode(target, asNode)
      const supersteps = steps.map(async (updates) => ({
        updates: await Promise.all(
          updates.map(async ({ values, command, asNode }) => ({
            values: command ? await commandFor(command, target) : values,
            ...(asNode !== undefined && { asNode }),
          })),
        ),
      }))
      return target.bulkUpdateState(ownConfig(target, place), await Promise.all(supersteps))
    }),
})

async function getState(
  graph: Graph,
  at: StateAddress,
  subgraphs: boolean,
): Promise<StateSnapshot | undefined> {
  if (graph.checkpointer === false) return undefined
  const failures = new Set<unknown>()
  const place = { ...at, checkpointer: hooked(at.checkpointer, [rememberFailures(failures)]) }
  const target = await find(graph, place)
  if (target) {
    try {
      const snapshot = toSnapshot(await target.getState(ownConfig(target, place), { subgraphs }))
      return snapshot && (await withoutAnswered(snapshot, at.checkpointer))
    } catch (error) {
      if (error instanceof AgentwireError || failures.has(error)) throw error
      // LangGraph applies the pending input first, and throws if a reducer rejects it. The checkpoint can
      // still be read.
    }
  }
  const tuple = await at.checkpointer.getTuple(configOf(at))
  return tuple && readUnknownGraph(tuple)
}

async function* getHistory(
  graph: Graph,
  at: StateAddress,
  options: HistoryOptions,
): AsyncGenerator<StateSnapshot> {
  if (graph.checkpointer === false) return
  const target = await find(graph, at)
  yield* historyOf(at, options, (place, query) =>
    target
      ? map(target.getStateHistory(ownConfig(target, place), query), toSnapshot)
      : map(at.checkpointer.list(configOf(place), query), readUnknownGraph),
  )
}

async function write(
  graph: Graph,
  at: StateAddress,
  update: (target: Graph, place: StateAddress) => Promise<CheckpointConfig>,
) {
  if (graph.checkpointer === false) throw new AgentInputError('This agent does not store state.')
  const failures = new Set<unknown>()
  const checkpointer = hooked(at.checkpointer, [rememberFailures(failures), withTurns()])
  const place = { ...at, checkpointer }
  const target = await find(graph, place)
  if (!target) throw new AgentInputError(`No graph of this agent can be updated at ${at.checkpointNs}.`)
  try {
    const config = await update(target, place)
    return { checkpointId: String(config.configurable?.checkpoint_id) }
  } catch (error) {
    if (error instanceof AgentwireError || failures.has(error)) throw error
    const Refusal = isAboutValues(error) ? AgentInputError : AgentRefusal
    throw new Refusal(messageOf(error), { cause: error })
  }
}

/** LangGraph rejects unknown nodes, but accepts the names of properties that every object inherits. */
function requireOwnNode({ nodes }: Graph, asNode: string | undefined): void {
  if (asNode === undefined || !(asNode in nodes) || Object.hasOwn(nodes, asNode)) return
  throw new AgentInputError(`Node "${asNode}" does not exist`)
}

/**
 * Whether LangGraph, LangChain or a schema threw the error: its message then says what is wrong with the
 * values.
 */
const isAboutValues = (error: unknown): boolean =>
  error instanceof Error &&
  ('lc_error_code' in error ||
    ('issues' in error && Array.isArray(error.issues)) ||
    // A `StateSchema` throws a plain error.
    error.message.startsWith('Validation failed for field '))

/** The graph that stores its state in this namespace, with the checkpointer and store of the address. */
async function find(
  graph: Graph,
  { checkpointNs = '', ...storage }: StateAddress,
): Promise<Graph | undefined> {
  if (checkpointNs === '') return withStorage(graph, storage)
  const path = checkpointNs
    .split('|')
    .filter((segment) => !/^\d+$/.test(segment))
    .map((segment) => segment.split(':', 1)[0])
    .join('|')
  for await (const [name, subgraph] of graph.getSubgraphsAsync(path, true)) {
    if (name === path) return withStorage(subgraph, storage)
  }
  return undefined
}

/** Tells the engine that the namespace belongs to `target`, so that it does not search for a subgraph. */
const ownConfig = (target: Graph, at: StateAddress): CheckpointConfig => ({
  configurable: { ...configOf(at).configurable, __pregel_checkpointer: target.checkpointer },
})

/**
 * The node of an update without `asNode`: the first update of a thread is its input, and messages come from
 * an agent's model. Otherwise LangGraph uses the node that wrote last.
 */
async function defaultNode(graph: Graph, at: StateAddress, values: unknown): Promise<string | undefined> {
  if (values === null || values === undefined) return undefined
  if (!(await at.checkpointer.getTuple(configOf(at))))
    return '__start__' in graph.nodes ? '__start__' : undefined
  const { messages } = values as { readonly messages?: unknown }
  return 'model_request' in graph.nodes && Array.isArray(messages) && messages.length > 0
    ? 'model_request'
    : undefined
}

async function* map<T, R>(items: AsyncIterable<T>, change: (item: T) => R): AsyncGenerator<R> {
  for await (const item of items) yield change(item)
}
