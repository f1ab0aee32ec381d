import { isObject, type JsonObject, parseJson, textOf } from './json.ts'

/** A field of a form. `messages` is a list that the form fills with one message of the user. */
export interface Field {
  readonly name: string
  readonly kind: 'text' | 'number' | 'choice' | 'messages' | 'json'
  readonly description: string | undefined
  readonly isRequired: boolean
  /** The values to choose from. */
  readonly choices: readonly unknown[]
  /** What the form begins with, as text. */
  readonly initial: string
}

/** An input, what is wrong with it, or neither while something is missing. */
export type FormInput =
  | { readonly value: JsonObject }
  | { readonly problem: string }
  | { readonly missing: string }

/** More fields would be harder to fill in than JSON. */
const MAX_FIELDS = 30

/** The fields of an input, or undefined if its schema is not an object with fields for a form. */
export function fieldsOf(schema: unknown): readonly Field[] | undefined {
  if (!isObject(schema) || !isObject(schema.properties)) return undefined
  const required: unknown = schema.required
  const fields = Object.entries(schema.properties).map(([name, field]) =>
    fieldOf(name, field, Array.isArray(required) && required.includes(name)),
  )
  const isForm = fields.some(({ kind }) => kind !== 'messages' && kind !== 'json')
  return isForm && fields.length <= MAX_FIELDS ? fields : undefined
}

/** Whether an agent takes a message, which it does unless its schema says otherwise. */
export const takesMessages = (schema: unknown): boolean =>
  !isObject(schema) || !isObject(schema.properties) || Object.hasOwn(schema.properties, 'messages')

function fieldOf(name: string, given: unknown, isRequired: boolean): Field {
  const schema = isObject(given) ? withoutNull(given) : {}
  const choices = choicesOf(schema)
  const kind = choices.length > 0 ? 'choice' : (KINDS[String(schema.type)] ?? 'json')
  const { default: initial } = schema
  return {
    name,
    kind: schema.langgraph_type === 'messages' ? 'messages' : kind,
    description: textOf(schema.description) ?? textOf(isObject(given) ? given.description : undefined),
    isRequired: isRequired && initial === undefined,
    choices,
    initial: initial === undefined ? '' : kind === 'text' ? String(initial) : JSON.stringify(initial),
  }
}

const KINDS: Readonly<Record<string, Field['kind']>> = { string: 'text', number: 'number', integer: 'number' }

/** The other type of a nullable field, because an empty field is left out. */
function withoutNull(schema: JsonObject): JsonObject {
  const { type, anyOf } = schema
  if (Array.isArray(type)) {
    const types = type.filter((one) => one !== 'null')
    return types.length === 1 ? { ...schema, type: types[0] } : schema
  }
  if (!Array.isArray(anyOf)) return schema
  const others = anyOf.filter((one) => isObject(one) && one.type !== 'null')
  return others.length === 1 ? { ...schema, ...others[0] } : schema
}

function choicesOf({ enum: values, const: only, type }: JsonObject): readonly unknown[] {
  if (type === 'boolean') return [true, false]
  return Array.isArray(values) ? values : only === undefined ? [] : [only]
}

/** An input with a message of the user. */
export const messageInput = (content: string, name = 'messages'): JsonObject => ({
  [name]: [{ role: 'user', content }],
})

/** The input of a form. Fields that are empty and not required are left out. */
export function inputOf(fields: readonly Field[], texts: Readonly<Record<string, string>>): FormInput {
  const input: Record<string, unknown> = {}
  for (const { name, kind, isRequired, initial } of fields) {
    const text = texts[name] ?? initial
    if (text.trim() === '') {
      if (isRequired) return { missing: name }
    } else if (kind === 'text') input[name] = text
    else if (kind === 'messages') Object.assign(input, messageInput(text, name))
    else {
      const parsed = parseJson(text)
      if ('problem' in parsed) return { problem: `${name}: ${parsed.problem}` }
      input[name] = parsed.value
    }
  }
  return { value: input }
}
