import type { RunInput } from '../agent.ts'
import { AgentInputError } from '../errors.ts'
import type { Graph } from './graph.ts'

interface CommandFields {
  readonly resume?: unknown
  readonly update?: unknown
  readonly goto?: readonly unknown[]
}

/** A command for the engine: LangGraph's `Command`, or an instance of another class with the same fields. */
export interface Command extends CommandFields {
  readonly lg_name: 'Command'
}

/**
 * A `Command` for graphs from a copy of LangGraph that cannot be imported here. Every release recognizes it
 * by `lg_name`, but since 1.5 does not accept a plain object. The fields are mutable, because graphs with a
 * schema replace `update`.
 */
class ForeignCommand implements Command {
  readonly lg_name = 'Command'
  resume: unknown
  update: unknown
  goto: readonly unknown[]

  constructor({ resume, update, goto = [] }: CommandFields) {
    this.resume = resume
    this.update = update
    this.goto = goto
  }
}

type SendClass = new (node: string, args: unknown) => object

interface Classes {
  readonly Command: new (fields: CommandFields) => Command
  /** The engine only recognizes its own class. */
  readonly Send?: SendClass
}

export async function commandFor(
  { update, goto }: Pick<Extract<RunInput, { kind: 'resume' }>, 'update' | 'goto'>,
  graph: Pick<Graph, 'nodes'>,
  resume?: unknown,
): Promise<Command> {
  const destinations = goto === undefined || goto === null ? undefined : knownDestinations(goto, graph.nodes)
  const { Command, Send } = await classesOf(graph)
  return new Command({
    ...(resume !== undefined && { resume }),
    ...(update !== undefined && update !== null && { update }),
    ...(destinations && { goto: destinations.map((one) => (isSend(one) ? send(one, Send) : one)) }),
  })
}

/**
 * The classes of the graph's own LangGraph. A process can contain several copies, such as one for `import`
 * and one for `require`. The copy imported here is used only for its own graphs.
 */
async function classesOf(graph: object): Promise<Classes> {
  try {
    const [engine, { Pregel }] = await Promise.all([
      import('@langchain/langgraph'),
      import('@langchain/langgraph/pregel'),
    ])
    if (graph instanceof Pregel) return engine as unknown as Classes
  } catch {
    // The graph's LangGraph may be bundled, so that no module can be imported.
  }
  return { Command: ForeignCommand }
}

interface Destination {
  readonly node: string
  readonly input?: unknown
}

/** A destination that is not a node: only pending tasks continue. */
const END = '__end__'

/** The targets of `goto`. Unknown nodes are rejected here, because the engine ignores them. */
function knownDestinations(goto: unknown, nodes: Graph['nodes']): readonly unknown[] {
  const list: readonly unknown[] = Array.isArray(goto) ? goto : [goto]
  for (const one of list) {
    const node = isSend(one) ? one.node : one
    if (typeof node !== 'string')
      throw new AgentInputError('goto takes a node name, { node, input }, or an array of both.')
    if (one !== END && !Object.hasOwn(nodes, node))
      throw new AgentInputError(`goto: this agent has no node ${JSON.stringify(node)}.`)
  }
  return list
}

function send({ node, input = null }: Destination, Send: SendClass | undefined): object {
  if (Send) return new Send(node, input)
  throw new AgentInputError(
    'goto with an input only works if the graph uses the same copy of @langchain/langgraph that agentwire imports. Use a node name instead.',
  )
}

const isSend = (value: unknown): value is Destination =>
  typeof value === 'object' && value !== null && 'node' in value && typeof value.node === 'string'
