import type { RunInput } from '../agent.ts'
import { AgentInputError } from '../errors.ts'
import type { Graph } from './graph.ts'

/** LangGraph's `Command` in its serialized form, which the engine accepts. Only a `Send` must be an instance of its class. */
export interface Command {
  readonly lg_name: 'Command'
  readonly resume?: unknown
  readonly update?: unknown
  readonly goto?: readonly unknown[]
}

export async function commandFor(
  { answers, update, goto }: Extract<RunInput, { kind: 'resume' }>,
  { nodes }: Pick<Graph, 'nodes'>,
): Promise<Command> {
  return {
    lg_name: 'Command',
    ...(Object.keys(answers).length > 0 && { resume: answers }),
    ...(update !== undefined && update !== null && { update }),
    ...(goto !== undefined && goto !== null && { goto: await destinations(goto, nodes) }),
  }
}

/** The targets of `goto`. Unknown nodes are refused here, because the engine ignores them. */
async function destinations(goto: unknown, nodes: Graph['nodes']): Promise<readonly unknown[]> {
  const list: readonly unknown[] = Array.isArray(goto) ? goto : [goto]
  for (const one of list) {
    const node = isSend(one) ? one.node : one
    if (typeof node !== 'string')
      throw new AgentInputError('goto takes a node name, { node, input }, or an array of both.')
    if (!Object.hasOwn(nodes, node))
      throw new AgentInputError(`goto: this agent has no node ${JSON.stringify(node)}.`)
  }
  if (!list.some(isSend)) return list
  const { Send } = await import('@langchain/langgraph')
  return list.map((one) => (isSend(one) ? new Send(one.node, one.input ?? null) : one))
}

const isSend = (value: unknown): value is { readonly node: string; readonly input?: unknown } =>
  typeof value === 'object' && value !== null && 'node' in value && typeof value.node === 'string'
