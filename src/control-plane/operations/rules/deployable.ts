import type { Deployer, DeployRequest, FieldRefusal } from '../../deployers/deployer.ts'
import { InvalidRequest, refusal } from '../../errors.ts'
import { createFindings } from '../../schema/findings.ts'

/** Throws 400 for what the deployer does not deploy, and 422 for fields of the body that it does not take. */
export function checkDeployable(deployer: Deployer, request: DeployRequest, body?: object): void {
  const refused = deployer.refuses(request)
  if (refused === undefined) return
  if (typeof refused === 'string') throw refusal(400, refused)
  const findings = createFindings()
  for (const { path, message } of refused) {
    if (findings.isFull) break
    const input = valueAt(body, path)
    // What is wrong was there before this request.
    if (input === undefined) throw refusal(400, `'${path.join('.')}': ${message}`)
    const fault = { type: 'value_error', msg: `Value error, ${message}`, ctx: { error: message } }
    findings.add(fault, ['body', ...path], input)
  }
  throw new InvalidRequest(findings.problems)
}

const valueAt = (body: unknown, path: FieldRefusal['path']): unknown =>
  path.reduce<unknown>(
    (value, step) => (value as Record<string | number, unknown> | null | undefined)?.[step],
    body,
  )
