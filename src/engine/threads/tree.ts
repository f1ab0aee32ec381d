import type { RunContext } from '../context.ts'
import { readLog } from '../log/decode.ts'
import type { Matcher } from '../log/frame.ts'

/** The tree of a run's agents, built from its lifecycle events. */
export interface RunTree {
  readonly namespace: readonly string[]
  readonly status: string
  readonly graphName: string | undefined
  readonly children: readonly RunTree[]
}

interface Node {
  namespace: readonly string[]
  status: string
  graphName: string | undefined
  children: Node[]
}

/**
 * Folds the run's lifecycle events that the log still has. Undefined if none belongs to the root namespace.
 */
export async function readTree(
  { store }: RunContext,
  threadId: string,
  runId: string,
): Promise<RunTree | undefined> {
  const nodes = new Map<string, Node>()
  const isLifecycle: Matcher = (topic) => topic.method === 'lifecycle' && topic.runId === runId
  for await (const { method, namespace, data } of readLog(store, threadId, isLifecycle)) {
    if (method !== 'lifecycle') continue
    const node = nodeAt(nodes, namespace)
    node.status = data.event
    node.graphName = data.graph_name ?? node.graphName
  }
  return nodes.get('[]')
}

/** The node of a namespace. Creates missing ancestors, because a parent may have sent no event. */
function nodeAt(nodes: Map<string, Node>, namespace: readonly string[]): Node {
  const key = JSON.stringify(namespace)
  const known = nodes.get(key)
  if (known) return known
  const node: Node = {
    namespace,
    status: 'started',
    graphName: namespace.at(-1)?.split(':')[0],
    children: [],
  }
  nodes.set(key, node)
  if (namespace.length > 0) nodeAt(nodes, namespace.slice(0, -1)).children.push(node)
  return node
}
