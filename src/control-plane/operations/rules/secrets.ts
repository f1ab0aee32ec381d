import { refusal } from '../../errors.ts'
import { MASK } from '../../secrets/mask.ts'
import type { Secret } from '../../secrets/secret-box.ts'

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
