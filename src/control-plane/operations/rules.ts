import type { Deployer, DeployRequest, FieldRefusal } from '../deployers/deployer.ts'
import { InvalidRequest, refusal } from '../errors.ts'
import type { Source } from '../records/records.ts'
import { MASK } from '../secrets/mask.ts'
import type { Secret } from '../secrets/secret-box.ts'
import { createFindings } from '../wire/problems.ts'

/** Fields that only some sources have, by the names in error messages. */
const ONLY_FOR: readonly (readonly [field: string, sources: readonly Source[]])[] = [
  ['source_config.repo_url', ['github']],
  ['source_config.integration_id', ['github']],
  ['source_config.deployment_type', ['github', 'internal_docker', 'internal_source', 'internal_template']],
  ['source_config.listener_id', ['external_docker']],
  ['source_config.listener_config', ['external_docker']],
  ['source_config.template_id', ['internal_template']],
  ['source_revision_config.repo_ref', ['github']],
  ['source_revision_config.image_uri', ['external_docker', 'internal_docker']],
  ['source_revision_config.source_tarball_path', ['internal_source']],
]

const NEEDED: Readonly<Record<Source, readonly string[]>> = {
  github: [
    'source_config.repo_url',
    'source_config.deployment_type',
    'source_config.build_on_push',
    'source_revision_config.repo_ref',
    'source_revision_config.langgraph_config_path',
  ],
  external_docker: ['source_config.resource_spec', 'source_revision_config.image_uri'],
  internal_template: ['source_config.template_id'],
  internal_docker: [],
  internal_source: [],
}

/**
 * Throws 400 for a deployment that lacks what its source needs, or has what it cannot use. Fields of other
 * sources are kept: a revision can have its own source.
 */
export function checkSource(request: DeployRequest, needsIntegration: boolean, given: Given = request): void {
  const { source, sourceConfig, sourceRevisionConfig } = request
  const needed = [...(needsIntegration && source === 'github' ? [INTEGRATION] : []), ...NEEDED[source]]
  const missing = needed.filter((field) => !has(request, field))
  if (missing.length > 0) {
    const are = missing.length > 1 ? 'are' : 'is'
    throw refusal(400, `${listed(missing)} ${are} required for '${source}' source deployments.`)
  }
  for (const [field, sources] of ONLY_FOR) {
    if (has(given, field) && !sources.includes(source)) throw notFor(field, source)
  }
  if (given.secretReferences?.length && source !== 'external_docker')
    throw notFor('secret_references', source)
  if (given.sourceConfig?.build_on_push && source !== 'github')
    throw notFor('source_config.build_on_push', source)
  if (source !== 'github' || sourceConfig.build_on_push !== true) return
  if (sourceRevisionConfig.repo_ref?.startsWith('refs/tags/')) {
    throw refusal(
      400,
      "'source_config.build_on_push' needs a branch: 'source_revision_config.repo_ref' is a tag.",
    )
  }
}

/** The deployment fields of a request. */
type Given = {
  readonly [Part in 'sourceConfig' | 'sourceRevisionConfig' | 'secretReferences']?:
    | DeployRequest[Part]
    | null
    | undefined
}

function has({ sourceConfig, sourceRevisionConfig }: Given, field: string): boolean {
  const [part, name] = field.split('.') as [string, string]
  const config = part === 'source_config' ? sourceConfig : sourceRevisionConfig
  return (config as Readonly<Record<string, unknown>> | null | undefined)?.[name] != null
}

function listed(fields: readonly string[]): string {
  const quoted = fields.map((field) => `'${field}'`)
  const last = quoted.pop()!
  return quoted.length > 0 ? `${quoted.join(', ')} and ${last}` : last
}

const INTEGRATION = 'source_config.integration_id'

const notFor = (field: string, source: Source) =>
  refusal(400, `'${field}' is not allowed for '${source}' source deployments.`)

/** Whether there is something to deploy: images and uploads come after the deployment was created. */
export const isDeployable = ({ source, sourceRevisionConfig }: DeployRequest): boolean =>
  source === 'internal_source'
    ? sourceRevisionConfig.source_tarball_path != null
    : source !== 'internal_docker' || sourceRevisionConfig.image_uri != null

/** Throws 400 for what the deployer cannot deploy, and 422 for body fields that it rejects. */
export function checkDeployable(deployer: Deployer, request: DeployRequest, body?: object): void {
  const refused = deployer.refuses(request)
  if (refused === undefined) return
  if (typeof refused === 'string') throw refusal(400, refused)
  const findings = createFindings()
  for (const { path, message } of refused) {
    const input = valueAt(body, path)
    // The invalid value was there before this request.
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

/** Names with a meaning for a deployment's server. The command-line tools leave out the same ones. */
const RESERVED: ReadonlySet<string> = new Set([
  'LANGCHAIN_TRACING_V2',
  'LANGSMITH_TRACING_V2',
  'LANGCHAIN_ENDPOINT',
  'LANGCHAIN_PROJECT',
  'LANGSMITH_PROJECT',
  'LANGSMITH_LANGGRAPH_GIT_REPO',
  'LANGGRAPH_GIT_REPO_PATH',
  'LANGCHAIN_API_KEY',
  'LANGGRAPH_HOST_API_KEY',
  'LANGSMITH_CONTROL_PLANE_API_KEY',
  'POSTGRES_URI',
  'POSTGRES_PASSWORD',
  'DATABASE_URI',
  'LANGSMITH_LANGGRAPH_GIT_REF',
  'LANGSMITH_LANGGRAPH_GIT_REF_SHA',
  'LANGGRAPH_AUTH_TYPE',
  'LANGSMITH_AUTH_ENDPOINT',
  'LANGSMITH_TENANT_ID',
  'LANGSMITH_AUTH_VERIFY_TENANT_ID',
  'LANGSMITH_HOST_PROJECT_ID',
  'LANGSMITH_HOST_PROJECT_NAME',
  'LANGSMITH_HOST_REVISION_ID',
  'LOG_JSON',
  'LOG_DICT_TRACEBACKS',
  'REDIS_URI',
  'LANGCHAIN_CALLBACKS_BACKGROUND',
  'DD_TRACE_PSYCOPG_ENABLED',
  'DD_TRACE_REDIS_ENABLED',
  'LANGSMITH_DEPLOYMENT_NAME',
  'LANGGRAPH_CLOUD_LICENSE_KEY',
  'LANGSMITH_API_KEY',
  'LANGSMITH_ENDPOINT',
  'POSTGRES_URI_CUSTOM',
  'REDIS_URI_CUSTOM',
  'PATH',
  'PORT',
  'MOUNT_PREFIX',
  'LSD_ENV',
  'LSD_DD_API_KEY',
  'LSD_DD_ENDPOINT',
  'LSD_DEPLOYMENT_TYPE',
])

interface Named {
  readonly name: string
}

/**
 * Throws 400 for secrets that cannot be environment variables, and for duplicates. No message repeats a
 * value.
 */
export function checkSecrets(secrets: readonly Secret[], references: readonly Named[]): void {
  for (const { name } of [...secrets, ...references]) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      const shown = JSON.stringify(name.slice(0, 100))
      throw refusal(
        400,
        `The secret name ${shown} must be letters, digits and underscores, and not begin with a digit.`,
      )
    }
    if (RESERVED.has(name)) throw refusal(400, `The secret name '${name}' is reserved. Choose another name.`)
  }
  for (const { name, value } of secrets) {
    if (value.includes('\0'))
      throw refusal(400, `The value of the secret '${name}' contains a NUL character.`)
    if (value === MASK) {
      // A client that sends back a response would replace the secret with its mask.
      throw refusal(
        400,
        `The value of the secret '${name}' is the mask that responses show. Send the value itself.`,
      )
    }
  }
  checkNames(secrets, references)
}

/** Throws 400 if two secrets would be the same environment variable. */
export function checkNames(secrets: readonly Named[], references: readonly Named[]): void {
  const names = new Set<string>()
  for (const { name } of [...secrets, ...references]) {
    if (names.has(name)) throw refusal(400, `The secret '${name}' is listed twice.`)
    names.add(name)
  }
}
