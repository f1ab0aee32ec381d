import { AgentwireError } from '../../core/errors.ts'
import type { LoopOptions } from './types.ts'

/** The names of tools that every provider takes. */
const NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/

/** Throws `invalid_argument` for a model, tools and subagents that would fail in the first run. */
export function checkLoop(
  path: string,
  { model, tools = {}, subagents = {} }: Partial<Pick<LoopOptions, 'model' | 'tools' | 'subagents'>>,
): void {
  const refuse = (what: string): never => {
    throw new AgentwireError('invalid_argument', `${path}: ${what}`)
  }
  if (model !== undefined && (typeof model?.stream !== 'function' || !model.format))
    refuse(
      "model must be a model, such as openai('gpt-5-mini', new OpenAI()) with openai of agentwire/models.",
    )
  for (const [name, tool] of Object.entries(tools)) {
    if (!NAME.test(name)) refuse(`tools: ${JSON.stringify(name)} is no name that models take: ${NAME}.`)
    if (typeof tool?.read !== 'function') refuse(`tools.${name} must be made with tool({ … }).`)
  }
  const names = Object.keys(subagents)
  if (names.length > 0 && 'task' in tools) refuse('tools.task has the name by which models call subagents.')
  for (const name of names) {
    const subagent = subagents[name]!
    if (typeof subagent?.description !== 'string')
      refuse(`subagents.${name}.description is missing: the model chooses by it.`)
    if (!('run' in subagent) || subagent.run === undefined) checkLoop(`${path}: subagents.${name}`, subagent)
  }
}
