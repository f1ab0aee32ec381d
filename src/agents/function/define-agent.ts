import { uuid7 } from '../../ids.ts'
import type { Agent } from '../agent.ts'
import { type JsonSchema, oneStep } from '../description.ts'
import { profileOf } from '../profile.ts'
import { attempt } from './attempt.ts'
import { changeOf, readInput, reduce } from './state.ts'
import { threadState } from './thread-state.ts'
import type { AgentDefinition } from './types.ts'

export { runToolCalls, type ToolCallHandlers } from './tool-calls.ts'
export type {
  AgentContext,
  AgentDefinition,
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

export interface FunctionAgent extends Agent {
  validateInput(input: unknown): Promise<void>
}

/**
 * Makes an agent from a function. The agent keeps its state as a LangGraph thread does, with checkpoints, history and forks, and
 * needs no LangGraph.
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
  const { name, description, resumable = false, checkpointer, input, answersWith } = definition
  return {
    name,
    description,
    resumable,
    checkpointer,
    ...profileOf(definition),
    answersWith,
    stream: (task) => attempt(definition, task),
    async validateInput(value) {
      if (value === null || value === undefined) return
      await readInput(input, value)
      reduce({}, changeOf(value), uuid7)
    },
    ...threadState,
    describe: () => oneStep(name ?? 'agent', inputSchema(input)),
  }
}

/** The schema of the input, where the library that made it follows the Standard JSON Schema (zod from 4.2 on), and has words for it. */
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
