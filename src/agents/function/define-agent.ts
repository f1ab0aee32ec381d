import { AgentwireError } from '../../core/errors.ts'
import { uuid7 } from '../../core/ids.ts'
import { iterateLater, later, lazy } from '../../core/lazy.ts'
import { checkOptions, type OptionTable } from '../../core/options.ts'
import type { Agent } from '../agent.ts'
import { type JsonSchema, jsonSchemaOf, oneStep } from '../description.ts'
import { AGENT_PROFILE, type AgentProfile, profileOf } from '../profile.ts'
import type { Runnable } from './attempt.ts'
import type { threadState } from './thread-state.ts'
import type { AgentContext, AgentDefinition, LoopOptions, ModelAgentDefinition } from './types.ts'

export { runToolCalls, type ToolCallHandlers, tool } from './tool-calls.ts'
export type {
  AgentContext,
  AgentDefinition,
  AgentReturn,
  AnswerStream,
  ArtifactOptions,
  ArtifactWriter,
  CallOptions,
  LoopOptions,
  MessageEnd,
  MessageOptions,
  MessageWriter,
  ModelAgentDefinition,
  ModelOptions,
  ModelStream,
  RunDetails,
  StateChange,
  StepContext,
  Subagent,
  SubagentResult,
  Tool,
  ToolArgs,
  ToolCallRequest,
  ToolContext,
  ToolDefinition,
  ToolInput,
  Writer,
} from './types.ts'

/** An agent made by `defineAgent`. */
export interface FunctionAgent extends Agent {
  validateInput(input: unknown): Promise<void>
}

/**
 * Creates an agent: a model with instructions and tools, or a function. Its state has checkpoints, history and forks,
 * like a LangGraph thread, and it does not need LangGraph. Throws `AgentwireError`: `invalid_argument` for unknown or
 * invalid options, `invalid_agent` for an invalid profile.
 *
 * ```ts
 * const assistant = defineAgent({
 *   instructions: 'You help with orders.',
 *   model: openai('gpt-5-mini', new OpenAI()),
 *   tools: { refund },
 * })
 * const echo = defineAgent({ run: ({ messages }) => `You said: ${textOf(messages.at(-1)!)}` })
 * ```
 */
export function defineAgent<Input = Readonly<Record<string, unknown>>>(
  definition: AgentDefinition<Input> | ModelAgentDefinition,
): FunctionAgent {
  if (typeof definition === 'function')
    throw new AgentwireError(
      'invalid_argument',
      'defineAgent takes an object with the function as run: defineAgent({ run }).',
    )
  const { model, name, description, checkpointer, answersWith } = definition
  if (model !== undefined && definition.run !== undefined)
    throw new AgentwireError(
      'invalid_argument',
      'defineAgent: pass model or run, not both. A function calls a model with the model() of its context.',
    )
  checkOptions('defineAgent', definition, model === undefined ? FUNCTION : MODEL_AGENT, AGENT_PROFILE)
  if (model !== undefined) checkLoop('defineAgent', definition as ModelAgentDefinition)
  const runnable: Runnable<Input> = definition.model === undefined ? definition : { run: loopOf(definition) }
  const { input } = runnable
  const { resumable = model !== undefined } = definition
  const schema = inputSchema(input)
  return {
    name,
    description,
    resumable,
    checkpointer,
    inputKeys: namedKeys(schema),
    ...profileOf(definition),
    answersWith,
    stream: (task) => iterateLater(async () => (await running()).attempt(runnable, task)),
    async validateInput(value) {
      if (value === null || value === undefined) return
      const { changeOf, readInput, reduce } = await running()
      await readInput(input, value)
      reduce({}, changeOf(value), uuid7)
    },
    ...THREAD_STATE,
    describe: () => oneStep(name ?? 'agent', schema),
  }
}

/** The names of tools that every provider takes. */
const NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/

/** Throws `invalid_argument` for a model, tools and subagents that would fail in the first run. */
function checkLoop(
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

const running = /* @__PURE__ */ lazy(() => import('./running.ts'))
const loops = /* @__PURE__ */ lazy(() => import('./loop.ts'))
const stateOf = async () => (await running()).threadState

/** What a function runs with, and what reads its state, is loaded with the first use of either. */
const THREAD_STATE: typeof threadState = {
  getState: /* @__PURE__ */ later(stateOf, 'getState'),
  getHistory: (...asked) => iterateLater(async () => (await stateOf()).getHistory(...asked)),
  updateState: /* @__PURE__ */ later(stateOf, 'updateState'),
  bulkUpdateState: /* @__PURE__ */ later(stateOf, 'bulkUpdateState'),
}

/** The loop is loaded with the first run, so that agents without a model do not have it. */
const loopOf = (definition: ModelAgentDefinition) => async (context: AgentContext<never>) => {
  const { runLoop } = await loops()
  await runLoop(context, definition)
}

/** The keys that every function accepts, and those in its schema. */
const namedKeys = (schema: JsonSchema | null): readonly string[] => [
  'messages',
  ...Object.keys(Object(schema?.properties)),
]

const FUNCTION: OptionTable<Omit<AgentDefinition<unknown>, keyof AgentProfile | 'model'>> = {
  name: 'string',
  description: 'string',
  input: 'any',
  resumable: 'boolean',
  checkpointer: 'saver',
  answersWith: 'any',
  run: ['required', 'function'],
}

const MODEL_AGENT: OptionTable<Omit<ModelAgentDefinition, keyof AgentProfile | 'run'>> = {
  name: 'string',
  description: 'string',
  model: 'any',
  instructions: ['string', 'function'],
  tools: 'object',
  subagents: 'object',
  maxSteps: 'positive',
  stopWhen: 'function',
  resumable: 'boolean',
  checkpointer: 'saver',
  answersWith: 'any',
}

/** The schema of the input, if its library gives it (zod does since 4.2). */
function inputSchema(input: AgentDefinition<unknown>['input']): JsonSchema | null {
  try {
    return input ? jsonSchemaOf(input, 'draft-07') : null
  } catch {
    return null
  }
}
