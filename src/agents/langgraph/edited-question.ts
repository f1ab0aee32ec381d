import type { AgentTask, RunInput, StateSnapshot } from '../agent.ts'
import type { Graph } from './graph.ts'
import { stateOf } from './state.ts'

type Resume = Extract<RunInput, { kind: 'resume' }>

/**
 * What a run resumes with: the answers by id, or the only answer alone if the only open question will get
 * another id. LangGraph makes the id from that of the task, which is another one after an update of the
 * subgraph that asked. The enclosing graph still lists the question under its earlier id.
 */
export async function resumeValue(graph: Graph, task: AgentTask, { answers }: Resume): Promise<unknown> {
  const [[id, answer] = [], ...others] = Object.entries(answers)
  if (id === undefined) return undefined
  // LangGraph takes an answer without an id for none, if it is null.
  if (others.length > 0 || (answer ?? null) === null || graph.checkpointer === false) return answers
  if (!(await hasSubgraphs(graph))) return answers
  const state = await stateOf(graph).getState({ ...task, config: undefined }, { subgraphs: true })
  const open = (state?.tasks ?? []).flatMap(({ interrupts }) => interrupts)
  return open.length === 1 && open[0]!.id === id && isEdited(state!, id) ? answer : answers
}

async function hasSubgraphs(graph: Graph): Promise<boolean> {
  for await (const _ of graph.getSubgraphsAsync(undefined, false)) return true
  return false
}

/** Whether the subgraph that asked was updated since, so that its own state does not list the question. */
function isEdited({ tasks, metadata, next }: StateSnapshot, id: string): boolean {
  const asking = tasks.find(({ interrupts }) => interrupts.some((one) => one.id === id))
  if (!asking) return metadata.source === 'update' && next.length > 0
  return asking.state !== null && isEdited(asking.state, id)
}
