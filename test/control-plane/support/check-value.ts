import { check } from '../../../src/control-plane/schema/check.ts'
import { createFindings } from '../../../src/control-plane/schema/findings.ts'
import type { JsonSchema } from '../../../src/control-plane/schema/json-schema.ts'
import type { Problem } from '../../../src/control-plane/schema/problem.ts'

/** A value as it is read, or all that is wrong with it. */
export type Checked =
  | { readonly value: unknown; readonly problems?: undefined }
  | { readonly problems: readonly Problem[] }

export function checkValue(schema: JsonSchema, value: unknown, loc: Problem['loc'] = []): Checked {
  const findings = createFindings()
  const checked = check(schema, value, loc, findings)
  return findings.problems.length > 0 ? { problems: findings.problems } : { value: checked }
}

/** The schema or null. */
export const nullable = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] })
