import { readFileSync } from 'node:fs'
import { Ajv, type ErrorObject } from 'ajv'

/** An object of JSON. */
export type Fields = Readonly<Record<string, unknown>>

/** Says why an API refuses a request, with the path of each fault. Empty if the API takes it. */
export type Refusals = (request: unknown) => string[]

const ajv = new Ajv({ allErrors: true, strict: false, allowUnionTypes: true })

/**
 * A checker of the types that the provider's SDK publishes, without any field that they do not name.
 *
 * @param amend Changes definitions where the API is known to differ from the types.
 */
export function schemaOf(name: string, amend?: (definitions: Record<string, Schema>) => void): Refusals {
  const file = new URL(`./schemas/${name}.json`, import.meta.url)
  const { schema, definitions } = JSON.parse(readFileSync(file, 'utf8')) as {
    schema: Schema
    definitions: Record<string, Schema>
  }
  amend?.(definitions)
  const validate = ajv.compile({ ...schema, definitions })
  return (request) => [
    ...(validate(request) ? [] : unique((validate.errors ?? []).filter(tells).map(sentence))),
    ...brokenTexts(request),
  ]
}

/** The parts of a JSON schema that `amend` changes. */
export interface Schema {
  properties: Record<string, unknown>
  required?: string[]
}

/** Leaves fields out of the required ones. */
export function optional(schema: Schema | undefined, ...fields: readonly string[]): void {
  if (!schema) throw new Error('The schema to amend is gone')
  schema.required = schema.required?.filter((field) => !fields.includes(field))
}

/** Half of a character, as a stream that was cut leaves it, is no JSON for most servers. */
function brokenTexts(value: unknown): string[] {
  // Written as JSON, only such a half is escaped like this.
  const broken = /\\ud[89a-f]/.test(JSON.stringify(value)?.replaceAll('\\\\', '') ?? '')
  return broken ? ['The request body is not valid JSON: no low surrogate in string'] : []
}

const tells = ({ keyword }: ErrorObject): boolean => keyword !== 'if'

function sentence({ instancePath, keyword, params, message }: ErrorObject): string {
  const extra = params as { additionalProperty?: string; allowedValues?: unknown; allowedValue?: unknown }
  const path = at(...instancePath.split('/').slice(1))
  if (keyword === 'additionalProperties')
    return `${path}.${extra.additionalProperty}: Extra inputs are not permitted`
  const allowed = extra.allowedValues ?? extra.allowedValue
  return `${path}: ${message}${allowed === undefined ? '' : `: ${JSON.stringify(allowed)}`}`
}

/** A path as the providers write it: `messages[2].content[0].text`. */
export const at = (...path: readonly (string | number)[]): string =>
  path
    .map((step) => (/^\d+$/.test(String(step)) ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '')

export const unique = (texts: readonly string[]): string[] => [...new Set(texts)]

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The objects of a list, or nothing if it is none. */
export const fieldsOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isFields) : [])

/** Whether text has more than white space. */
export const hasText = (text: unknown): boolean => typeof text === 'string' && text.trim() !== ''

export const isBase64 = (data: unknown): boolean =>
  typeof data === 'string' && data !== '' && /^[A-Za-z0-9+/]+={0,2}$/.test(data) && data.length % 4 === 0

/** The parts of a data URL with base64, or undefined if the text is none. */
export function dataUrl(url: unknown): { mimeType: string; data: string } | undefined {
  const [, mimeType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(String(url)) ?? []
  return mimeType !== undefined && isBase64(data) ? { mimeType, data: data! } : undefined
}

/**
 * A request as it is sent: fields without a value are gone, and bytes are base64.
 */
export function wire(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) return value.map((item) => wire(item === undefined ? null : item))
  if (!isFields(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) => (field === undefined ? [] : [[key, wire(field)]])),
  )
}
