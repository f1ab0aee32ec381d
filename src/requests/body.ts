import type { z } from 'zod'
import { type Call, HttpError } from '../http/index.ts'

/** A request's checked body. Throws 400 and names the invalid field. */
export async function bodyOf<Schema extends z.ZodType>(
  schema: Schema,
  call: Pick<Call, 'json'>,
): Promise<z.output<Schema>> {
  const parsed = schema.safeParse((await call.json()) ?? {})
  if (parsed.success) return parsed.data
  throw new HttpError(400, 'invalid_argument', explain(parsed.error))
}

/** What is wrong with a value, in one sentence that names the field. */
export function explain(error: z.ZodError): string {
  const [issue] = error.issues
  if (!issue) return 'Invalid value.'
  const path = issue.path.map(String).join('.')
  return path === '' ? issue.message : `${path}: ${issue.message}`
}
