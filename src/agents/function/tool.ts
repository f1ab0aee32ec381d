import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AgentwireError } from '../../core/errors.ts'
import { checkOptions, type OptionTable } from '../../core/options.ts'
import { isRecord } from '../../messages/record.ts'
import { type JsonSchema, jsonSchemaOf } from '../description.ts'
import { textOfThrown } from '../errors.ts'
import { validated } from './state.ts'
import type { Tool, ToolDefinition, ToolInput } from './types.ts'

/**
 * Makes a tool of a function. The model's arguments are checked before a person is asked or the function is called,
 * and the model reads what is wrong. Throws `AgentwireError` `invalid_argument` for unknown or invalid options.
 *
 * ```ts
 * const refund = tool({
 *   description: 'Refunds an order',
 *   input: z.object({ order: z.number() }),
 *   approve: true,
 *   run: ({ order }) => `Order ${order} is refunded.`,
 * })
 * ```
 */
export function tool<Input extends ToolInput = JsonSchema>(definition: ToolDefinition<Input>): Tool {
  checkOptions('tool', definition, OPTIONS)
  const { description, input, jsonSchema, approve = false, run } = definition
  const schema = isStandard(input) ? input : undefined
  return {
    description,
    parameters: parametersOf(jsonSchema ?? (schema ? derived(schema) : input)),
    approve,
    read: async (args) => (schema ? validated(schema, args, 'The call') : args),
    run,
  }
}

const OPTIONS: OptionTable<ToolDefinition<ToolInput>> = {
  description: 'string',
  input: 'any',
  jsonSchema: 'object',
  approve: ['boolean', 'function'],
  run: ['required', 'function'],
}

const NO_ARGUMENTS: JsonSchema = { type: 'object', properties: {}, additionalProperties: false }

/** A schema may be a function, as arktype's are. */
const isStandard = (input: unknown): input is StandardSchemaV1<unknown, unknown> =>
  '~standard' in Object(input)

/** Anthropic takes no earlier draft, and the others read what the two have in common. */
function derived(schema: object): JsonSchema | null {
  try {
    return jsonSchemaOf(schema, 'draft-2020-12')
  } catch (error) {
    throw invalid(`input has a part that JSON Schema cannot express: ${textOfThrown(error)}`, error)
  }
}

/** The schema as providers take it. */
function parametersOf(schema: unknown): JsonSchema {
  if (schema === undefined) return NO_ARGUMENTS
  if (schema === null)
    throw invalid(
      'input does not say what JSON Schema it has, which the model needs. Use zod 4.2 or newer, or arktype 2.1.28 or newer, or wrap a schema of valibot in toStandardJsonSchema of @valibot/to-json-schema. For others pass jsonSchema, such as z.toJSONSchema(input)',
    )
  if (!isRecord(schema) || schema.type !== 'object')
    throw invalid(
      'input must be the schema of one object, because the arguments of a tool have names: z.object({ … }). A union can be one of its fields',
    )
  const { $schema: _, ...parameters } = schema
  return parameters
}

const invalid = (message: string, cause?: unknown) =>
  new AgentwireError('invalid_argument', `tool: ${message}.`, { cause })
