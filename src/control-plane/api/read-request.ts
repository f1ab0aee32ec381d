import type { Call } from '../../core/http/index.ts'
import { InvalidRequest } from '../errors.ts'
import { check, defaultOf, MISSING } from '../schema/check.ts'
import { createFindings, type Findings } from '../schema/findings.ts'
import { type JsonSchema, jsonSchemaOf } from '../schema/json-schema.ts'
import type { OperationSpec } from './operation.ts'

/** The parsed path, query and body of a request. Throws `InvalidRequest` with all problems, in this order. */
export function readRequest(spec: OperationSpec, call: Call, body: unknown) {
  const findings = createFindings()
  const input = {
    params: readParams(spec, call.params, findings),
    query: spec.query ? readQuery(jsonSchemaOf(spec.query), call.url.searchParams, findings) : {},
    body: readBody(spec, body, findings),
  }
  if (findings.problems.length > 0) throw new InvalidRequest(findings.problems)
  return input
}

function readParams(spec: OperationSpec, params: Call['params'], findings: Findings) {
  const schemas = spec.params ? jsonSchemaOf(spec.params).properties! : {}
  const read: Record<string, unknown> = {}
  // Their names come from the route's pattern.
  for (const name in params) {
    const schema = schemas[name]
    read[name] = schema ? check(schema, params[name], ['path', name], findings) : params[name]
  }
  return read
}

function readQuery({ properties = {}, required }: JsonSchema, given: URLSearchParams, findings: Findings) {
  const read: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(properties)) {
    const values = given.getAll(name)
    const loc = ['query', name]
    if (values.length > 0) {
      // If a parameter is repeated, the last one counts.
      read[name] = check(schema, isList(schema) ? values : values.at(-1), loc, findings)
    } else if (schema.default !== undefined) read[name] = defaultOf(schema)
    else if (required?.includes(name)) findings.add(MISSING, loc, null)
  }
  return read
}

const isList = (schema: JsonSchema): boolean =>
  schema.anyOf ? isList(schema.anyOf[0]) : schema.type === 'array'

function readBody({ body: schema, bodyOptional }: OperationSpec, body: unknown, findings: Findings): unknown {
  if (schema === undefined) return undefined
  // `null` counts as no body.
  const given = body ?? (bodyOptional ? {} : undefined)
  if (given === undefined) return findings.add(MISSING, ['body'], null)
  return check(jsonSchemaOf(schema), given, ['body'], findings)
}
