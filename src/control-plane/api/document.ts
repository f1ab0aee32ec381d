import type * as z from 'zod/mini'
import { AgentwireError } from '../../core/errors.ts'
import type { JsonSchema } from '../../core/http/index.ts'
import { ERROR, ownNotesOf } from '../wire/common.ts'
import type { Operation } from './route.ts'

/** The document, where it is served with its address. */
export type OpenApiDocument = ReturnType<typeof documentOf> & {
  readonly servers?: readonly { readonly url: string }[]
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>

interface DocumentResponse {
  readonly description: string
  readonly content?: Content
}

const JSON_TYPE = 'application/json'

/** The OpenAPI document of operations. The same operations give the same document. */
export function documentOf(operations: readonly Operation[]) {
  const components = createComponents(VALIDATION_ERRORS)
  const paths: Record<string, Record<string, ReturnType<typeof describe>>> = {}
  for (const operation of operations) {
    const path = (paths[pathOf(operation)] ??= {})
    path[operation.method.toLowerCase()] = describe(operation, components)
  }
  return {
    openapi: '3.1.0' as const,
    info: {
      title: 'agentwire control plane API',
      description:
        'Creates deployments of agents, builds and rolls out their revisions, and reads their logs.',
      version: '0.1.0',
    },
    paths,
    components: { schemas: components.schemas(), securitySchemes: SECURITY_SCHEMES },
  }
}

function describe(spec: Operation, { refer }: Components) {
  const parameters = parametersOf(spec, refer)
  const body = spec.body && {
    required: !spec.bodyOptional,
    content: { [JSON_TYPE]: { schema: refer(spec.body) } } as Content,
  }
  const error = refer(ERROR)
  const isChecked = body !== undefined || parameters.some((parameter) => parameter.in !== 'header')
  return {
    tags: spec.tag === undefined ? [] : [spec.tag],
    summary: spec.summary,
    ...(spec.description && { description: spec.description }),
    operationId: operationIdOf(spec),
    security: spec.isPublic ? [] : Object.keys(SECURITY_SCHEMES).map((name) => ({ [name]: [] })),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: body }),
    responses: {
      ...(isChecked && { 422: response(422, { $ref: '#/components/schemas/HTTPValidationError' }) }),
      ...(isValidated(spec) && { 304: { description: descriptionOf(304) } }),
      ...Object.fromEntries(spec.errors?.map((status) => [status, response(status, error)]) ?? []),
      ...Object.fromEntries(
        Object.entries(spec.answers).map(([status, given]) => [
          status,
          declared(Number(status), given, refer),
        ]),
      ),
      default: response('default', error),
    } as Readonly<Record<string, DocumentResponse>>,
  }
}

/** Whether its responses have an `ETag` that a client may send as `If-None-Match`. */
const isValidated = ({ method, answers: { 200: body } }: Operation): boolean =>
  method === 'GET' && body !== undefined && body !== null && !('mediaType' in body)

/** With parameters in OpenAPI's form, such as `/v2/deployments/{deployment_id}`. */
const pathOf = ({ path }: Operation): string => path.replaceAll(/:(\w+)/g, '{$1}')

/** As FastAPI builds it from the function's name, the path and the method. */
function operationIdOf(operation: Operation): string {
  const { summary, method } = operation
  const name = summary.toLowerCase().replaceAll(/\W+/g, '_')
  return `${name}${pathOf(operation).replaceAll(/\W/g, '_')}_${method.toLowerCase()}`
}

function parametersOf(spec: Operation, refer: Components['refer']) {
  const known = spec.params?._zod.def.shape ?? {}
  const inPath = [...spec.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name: name!,
    in: 'path' as const,
    required: true,
    schema: known[name!] ? refer(known[name!]!) : { type: 'string' as const },
  }))
  const inQuery = Object.entries(spec.query?._zod.def.shape ?? {}).map(([name, schema]) => ({
    name,
    in: 'query' as const,
    required: isRequired(schema),
    schema: refer(schema),
  }))
  const inHeader = Object.entries(spec.headers ?? {}).map(([name, description]) => ({
    name,
    in: 'header' as const,
    required: false,
    schema: { type: 'string', description } as JsonSchema,
  }))
  return [...inPath, ...inQuery, ...inHeader].map((parameter) => {
    const { description } = parameter.schema
    return { ...parameter, ...(description !== undefined && { description }) }
  })
}

function declared(
  status: number,
  given: Operation['answers'][number],
  refer: Components['refer'],
): DocumentResponse {
  if (given === null || given === undefined) return { description: descriptionOf(status) }
  if (!('mediaType' in given)) return response(status, refer(given))
  return {
    description: descriptionOf(status),
    content: { [given.mediaType]: { schema: { type: 'string' } } },
  }
}

const response = (status: number | 'default', schema: JsonSchema) => ({
  description: descriptionOf(status),
  content: { [JSON_TYPE]: { schema } },
})

const descriptionOf = (status: number | 'default'): string =>
  DESCRIPTIONS[status] ?? (Number(status) < 300 ? 'Successful Response' : 'Error')

const DESCRIPTIONS: Readonly<Record<number | string, string>> = {
  207: 'Partly done',
  302: 'Redirect',
  303: 'Redirect',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  422: 'Validation Error',
  default: 'Any other error',
}

/** Names of components have no spaces (OpenAPI 3.1, §4.8.7). */
const SECURITY_SCHEMES = {
  ApiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
  TenantId: { type: 'apiKey', in: 'header', name: 'X-Tenant-Id' },
  BearerAuth: { type: 'http', scheme: 'bearer' },
} as const

const VALIDATION_ERRORS: Readonly<Record<string, JsonSchema>> = {
  HTTPValidationError: {
    title: 'HTTPValidationError',
    type: 'object',
    properties: { detail: { type: 'array', items: { $ref: '#/components/schemas/ValidationError' } } },
    required: ['detail'],
  },
  ValidationError: {
    title: 'ValidationError',
    type: 'object',
    properties: {
      type: { type: 'string', description: 'Such as `missing` or `int_parsing`.' },
      loc: {
        type: 'array',
        items: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
        description: '`path`, `query` or `body`, then the names and indexes that lead to the value.',
      },
      msg: { type: 'string' },
      input: { description: 'The value that was sent, cut where it is long, and without secrets.' },
      ctx: { type: 'object' },
    },
    required: ['type', 'loc', 'msg'],
  },
}

/** Neither optional nor with a default. */
const isRequired = (schema: z.core.$ZodType): boolean =>
  !['optional', 'default'].includes((schema as z.core.$ZodTypes)._zod.def.type)

/** The titled schemas of a document. Each is listed once under `components.schemas`. */
function createComponents(own: Readonly<Record<string, JsonSchema>>) {
  const schemas = new Map(Object.entries(own))

  /**
   * The schema with a reference for every titled one. Throws if two different schemas have the same title.
   */
  function refer(schema: z.core.$ZodType): JsonSchema {
    const { def } = (schema as z.core.$ZodTypes)._zod
    const { items, additionalProperties: more, of, ...notes } = ownNotesOf(schema)
    if (of) return refer(of)
    if (def.type === 'nullable') return { anyOf: [refer(def.innerType), { type: 'null' }], ...notes }
    if (def.type === 'optional') return { ...refer(def.innerType), ...notes }
    if (def.type === 'default') return { ...refer(def.innerType), ...notes, default: def.defaultValue }
    const written: JsonSchema = {
      ...keywordsOf(schema),
      ...notes,
      ...(items && { items: refer(items) }),
      ...(more && { additionalProperties: more === true || refer(more) }),
    }
    const { title } = notes
    if (title === undefined) return written
    const other = schemas.get(title)
    if (other && JSON.stringify(other) !== JSON.stringify(written))
      throw new AgentwireError('duplicate_title', `Two schemas of the API are called ${title}.`)
    schemas.set(title, written)
    return { $ref: `#/components/schemas/${title}` }
  }

  function keywordsOf(schema: z.core.$ZodType): JsonSchema {
    const { def } = (schema as z.core.$ZodTypes)._zod
    if (def.type === 'enum') return { type: 'string', enum: Object.values(def.entries) }
    if (def.type === 'literal') return { type: 'string', const: def.values[0] }
    if (def.type === 'transform' || def.type === 'unknown') return {}
    if (def.type !== 'object') throw new TypeError(`The schemas of the API have no ${def.type}.`)
    const members = Object.entries(def.shape)
    const required = members.flatMap(([name, member]) => (isRequired(member) ? [name] : []))
    return {
      type: 'object',
      properties: Object.fromEntries(members.map(([name, member]) => [name, refer(member)])),
      ...(required.length > 0 && { required }),
      // Others than declared are kept.
      ...(def.catchall && { additionalProperties: true }),
    }
  }

  return {
    refer,
    /** In alphabetical order. */
    schemas: (): Readonly<Record<string, JsonSchema>> =>
      Object.fromEntries([...schemas].sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0))),
  }
}

type Components = ReturnType<typeof createComponents>
