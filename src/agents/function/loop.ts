import type { ToolSchema } from '../../models/formats/calls/model.ts'
import { runToolCalls } from './tool-calls.ts'
import type { LoopOptions, Subagent, Writer } from './types.ts'

const MAX_STEPS = 25

/**
 * The loop of an agent with a model: asks it and runs its tools until it calls none. Its last message is the answer.
 *
 * It uses what every function has. Copy it for a loop of your own, with its imports from `agentwire` and
 * `agentwire/models`: `defineAgent({ run: (context) => runLoop(context, options) })`.
 */
export async function runLoop(context: Writer, options: LoopOptions): Promise<void> {
  const { maxSteps = MAX_STEPS } = options
  const { tools = [] } = context.request
  const ended = await converse(context, options, tools.map(schemaOfClient))
  if (!ended) context.reject(`There was no answer after ${maxSteps} steps. Ask again to go on.`)
}

/** False if the model still called tools in its last step. */
async function converse(
  context: Writer,
  options: LoopOptions,
  clientTools: readonly ToolSchema[] = [],
): Promise<boolean> {
  const { model, instructions, tools = {}, subagents = {}, maxSteps = MAX_STEPS, stopWhen } = options
  const own = [...schemasOf(tools), ...schemaOfTask(subagents)]
  const isOwn = (name: string) => own.some((tool) => tool.name === name)
  const offered = [...own, ...clientTools.filter(({ name }) => !isOwn(name))]
  const runs = Object.entries(subagents).map(([name, subagent]) => [name, runOf(name, subagent, options)])
  const handlers = { tools, subagents: Object.fromEntries(runs) }
  for (let step = 0; step < maxSteps; step++) {
    // Not called if the function runs again and the answer is known.
    const ask = async () => {
      const { messages, signal } = context
      const told = typeof instructions === 'function' ? await instructions(context) : instructions
      return model.stream({ messages, instructions: told, tools: offered, signal })
    }
    const reply = await context.model(ask, model)
    const goesOn = await runToolCalls(context, reply, handlers)
    if (!goesOn || (await stopWhen?.(reply, context))) return true
  }
  return false
}

const schemasOf = (tools: NonNullable<LoopOptions['tools']>): readonly ToolSchema[] =>
  Object.entries(tools).map(([name, { description, parameters }]) => ({ name, description, parameters }))

/** A tool that the client runs: the run ends with its call. */
const schemaOfClient = ({ function: tool }: NonNullable<Writer['request']['tools']>[number]): ToolSchema => ({
  name: tool.name,
  description: tool.description,
  parameters: tool.parameters ?? { type: 'object' },
})

/** The one tool through which the model calls all subagents. */
function schemaOfTask(subagents: Readonly<Record<string, Subagent>>): readonly ToolSchema[] {
  const names = Object.keys(subagents)
  if (names.length === 0) return []
  const list = names.map((name) => `- ${name}: ${subagents[name]!.description}`)
  const parameters = {
    type: 'object',
    properties: {
      subagent_type: { type: 'string', enum: names },
      description: {
        type: 'string',
        description: 'The task, with all that is needed for it. The subagent does not see this conversation.',
      },
    },
    required: ['subagent_type', 'description'],
  }
  const description = `Gives a task to a subagent, and returns its result.\n${list.join('\n')}`
  return [{ name: 'task', description, parameters }]
}

/** The function of a subagent. What it throws, the model that called it reads. */
function runOf(name: string, subagent: Subagent, { model }: LoopOptions): (context: Writer) => unknown {
  if (subagent.run) return subagent.run
  return async (context) => {
    if (!(await converse(context, { model, ...subagent }))) throw new Error(`${name} found no end.`)
  }
}
