import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AgentInputError } from '../errors.ts'

/**
 * What the function gets for the input that was sent: the schema's output, or without a schema the object itself (a string
 * is a user's message).
 *
 * @throws AgentInputError naming the path.
 */
export async function readInput<Input>(
  schema: StandardSchemaV1<unknown, Input> | undefined,
  raw: unknown,
): Promise<Input> {
  if (!schema) return asObject(raw) as Input
  const result = await schema['~standard'].validate(raw)
  if (!result.issues) return result.value
  const problems = result.issues.map(({ path, message }) => `${place(path)}: ${message}`)
  throw new AgentInputError(`The input is not valid. ${problems.join('; ')}`)
}

/** The change of the state that an input is. What is neither object nor text leaves it as it is. */
export function changeOf(raw: unknown): unknown {
  if (typeof raw === 'string') return { messages: [raw] }
  return isObject(raw) ? raw : undefined
}

function asObject(raw: unknown): unknown {
  const change = changeOf(raw)
  if (change === undefined) throw new AgentInputError('The input must be an object or a string.')
  return change
}

function place(path: StandardSchemaV1.Issue['path']): string {
  if (!path || path.length === 0) return 'input'
  const keys = path.map((segment) => (typeof segment === 'object' ? segment.key : segment))
  return `input.${keys.map(String).join('.')}`
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
