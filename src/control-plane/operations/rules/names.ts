import { InvalidRequest, refusal } from '../../errors.ts'
import { MISSING } from '../../schema/check.ts'
import { createFindings } from '../../schema/findings.ts'
import { jsonSchemaOf } from '../../schema/json-schema.ts'
import { CREATE_DEPLOYMENT, type CreateBody } from '../../wire/deployment.ts'

const MAX_LENGTH = 128

/** The name of a new deployment. Without one it is made of the agent's. Throws 422 without either, and 400 for what is no name. */
export function nameOf(body: CreateBody): string {
  const { name, agent } = body
  if (name == null && agent == null) {
    const findings = createFindings()
    findings.add(MISSING, ['body', 'name'], body, jsonSchemaOf(CREATE_DEPLOYMENT))
    throw new InvalidRequest(findings.problems)
  }
  const chosen = name ?? slug(`${agent!.agent_id}-${agent!.environment}`)
  if (chosen.length <= MAX_LENGTH && /^[A-Za-z][A-Za-z0-9-]*$/.test(chosen)) return chosen
  const rule = `it starts with a letter, has letters, digits and dashes only, and at most ${MAX_LENGTH} characters`
  throw refusal(400, `The name of a deployment is not valid: ${rule}.`)
}

const slug = (text: string): string => text.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-+|-+$/g, '')
