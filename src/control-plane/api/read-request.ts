import type { Call } from '../../http/index.ts'
import { InvalidRequest } from '../errors.ts'
import { check, defaultOf, MISSING } from '../schema/check.ts'
import { createFindings, type Findings } from '../schema/findings.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { OperationSpec } from './operation.ts'

/** Path, query and body of a request, checked and converted. Throws `InvalidRequest` with all that is wrong, in this order. */
export function readRequest(spec: OperationSpec, call: Call, body: unknown) {
  const findings = createFindings()
  const input = {
    params: readParams(spec, call.params, findings),
    query: spec.query ? readQuery(spec.query, call.url.searchParams, findings) : {},
    body: readBody(spec, body, findings),
  }
  if (findings.problems.length > 0) throw new InvalidRequest(findings.problems)
  return input
}

function readParams(spec: OperationSpec, params: Call['params'], findings: Findings) {
  const schemas = spec.params?.properties ?? {}
  const read: Record<string, unknown> = {}
  // Their names come from the pattern of the route.
  for (const name in params) {
    const schema = schemas[name]
    read[name] = schema ? check(schema, params[name], ['path', name], findings) : params[name]
  }
  return read
}

function readQuery(query: NonNullable<OperationSpec['query']>, given: URLSearchParams, findings: Findings) {
  const read: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(query.properties)) {
    const values = given.getAll(name)
    const loc = ['query', name]
    if (values.length > 0) {
      // Of a parameter that was given several times, the last one counts.
      read[name] = check(schema, isList(schema) ? values : values.at(-1), loc, findings)
    } else if (schema.default !== undefined) read[name] = defaultOf(schema)
    else if (query.required?.includes(name)) findings.add(MISSING, loc, null)
  }
  return read
}

const isList = (schema: JsonSchema): boolean =>
  schema.anyOf ? isList(schema.anyOf[0]) : schema.type === 'array'

function readBody(spec: OperationSpec, body: unknown, findings: Findings): unknown {
  if (spec.body === undefined) return undefined
  // `null` is no body either.
  if (body !== undefined && body !== null) return check(spec.body, body, ['body'], findings)
  if (spec.bodyOptional) return check(spec.body, {}, ['body'], findings)
  return findings.add(MISSING, ['body'], null)
}
