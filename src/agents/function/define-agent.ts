import { AgentwireError } from '../../errors.ts'
import { uuid7 } from '../../ids.ts'
import { checkOptions, type OptionTable } from '../../options.ts'
import type { Agent } from '../agent.ts'
import { type JsonSchema, oneStep } from '../description.ts'
import { AGENT_PROFILE, type AgentProfile, profileOf } from '../profile.ts'
import { attempt } from './attempt.ts'
import { changeOf, readInput, reduce } from './state.ts'
import { threadState } from './thread-state.ts'
import type { AgentDefinition } from './types.ts'
import { ANSWERS, isGeneratorFunction } from './unread.ts'

export { runToolCalls, type ToolCallHandlers } from './tool-calls.ts'
export type {
  AgentContext,
  AgentDefinition,
  AgentReturn,
  ArtifactOptions,
  ArtifactWriter,
  CallOptions,
  MessageEnd,
  MessageOptions,
  MessageWriter,
  ModelOptions,
  ModelStream,
  StateChange,
  StepContext,
  SubagentResult,
  ToolCallRequest,
  ToolContext,
  Writer,
} from './types.ts'

/** An agent made from a function by `defineAgent`. */
export interface FunctionAgent extends Agent {
  validateInput(input: unknown): Promise<void>
}

/**
 * Creates an agent from a function. Its state has checkpoints, history and forks, like a LangGraph thread,
 * and it does not need LangGraph. Throws `AgentwireError`: `invalid_argument` for unknown or invalid options,
 * `invalid_agent` for an invalid profile.
 *
 * ```ts
 * const echo = defineAgent({
 *   async run({ messages, message }) {
 *     await message(`You said: ${textOf(messages.at(-1)!)}`)
 *   },
 * })
 * ```
 */
export function defineAgent<Input = Readonly<Record<string, unknown>>>(
  definition: AgentDefinition<Input>,
): FunctionAgent {
  if (typeof definition === 'function')
    throw new AgentwireError(
      'invalid_argument',
      'defineAgent takes an object with the function as run: defineAgent({ run }).',
    )
  checkOptions('defineAgent', definition, DEFINITION, AGENT_PROFILE)
  if (isGeneratorFunction(definition.run))
    throw new AgentwireError('invalid_argument', `defineAgent: run must not be a generator. ${ANSWERS}`)
  const { name, description, resumable = false, checkpointer, input, answersWith } = definition
  const schema = inputSchema(input)
  return {
    name,
    description,
    resumable,
    checkpointer,
    inputKeys: namedKeys(schema),
    ...profileOf(definition),
    answersWith,
    stream: (task) => attempt(definition, task),
    async validateInput(value) {
      if (value === null || value === undefined) return
      await readInput(input, value)
      reduce({}, changeOf(value), uuid7)
    },
    ...threadState,
    describe: () => oneStep(name ?? 'agent', schema),
  }
}

/** The keys that every function accepts, and those in its schema. */
const namedKeys = (schema: JsonSchema | null): readonly string[] => [
  'messages',
  ...Object.keys(Object(schema?.properties)),
]

const DEFINITION: OptionTable<Omit<AgentDefinition<unknown>, keyof AgentProfile>> = {
  name: 'string',
  description: 'string',
  input: 'any',
  resumable: 'boolean',
  checkpointer: 'saver',
  answersWith: 'any',
  run: ['required', 'function'],
}

/** The schema of the input, if its library supports Standard JSON Schema (zod does since 4.2). */
function inputSchema(input: AgentDefinition<unknown>['input']): JsonSchema | null {
  const standard = input?.['~standard'] as StandardJsonSchema | undefined
  try {
    return standard?.jsonSchema?.input({ target: 'draft-07' }) ?? null
  } catch {
    return null
  }
}

/** The part of standardschema.dev/json-schema that is used here. */
interface StandardJsonSchema {
  readonly jsonSchema?: { input(options: { readonly target: 'draft-07' }): JsonSchema }
}
