import type { ControlPlaneContext } from '../context.ts'
import type { DeploymentRecord, SourceConfig, SourceRevisionConfig } from '../records/records.ts'
import { partitionOf } from '../records/stored.ts'
import { MASK } from '../secrets/mask.ts'
import { isoTime } from './time.ts'

/** A deployment as the API answers it. */
export async function presentDeployment(context: ControlPlaneContext, deployment: DeploymentRecord) {
  const { tiers } = deployment
  return {
    id: deployment.id,
    tenant_id: deployment.tenantId,
    name: deployment.name,
    display_name: deployment.displayName,
    agent: deployment.agent,
    source: deployment.source,
    source_config: sourceConfigOf(deployment.sourceConfig, deployment.url),
    source_revision_config: presentRevisionConfig(deployment.sourceRevisionConfig),
    secrets: await secretsOf(context, deployment),
    secret_references: deployment.secretReferences,
    status: deployment.status,
    latest_revision_id: deployment.latestRevisionId,
    active_revision_id: deployment.activeRevisionId,
    url: deployment.url,
    image_version: deployment.imageVersion,
    tracer_session_id: deployment.tracerSessionId,
    compute_tier: tiers?.compute ?? null,
    database_tier: tiers?.database ?? null,
    deployment_tier: tiers?.deployment ?? null,
    created_at: isoTime(deployment.createdAt),
    updated_at: isoTime(deployment.updatedAt),
  }
}

/** Clients look for the address of the running server in `custom_url`. */
const sourceConfigOf = (config: SourceConfig, url: string | null) => ({
  integration_id: config.integration_id ?? null,
  repo_url: config.repo_url ?? null,
  deployment_type: config.deployment_type ?? 'prod',
  build_on_push: config.build_on_push ?? false,
  custom_url: config.custom_url ?? url,
  resource_spec: config.resource_spec ?? null,
  listener_id: config.listener_id ?? null,
  listener_config: config.listener_config ?? null,
  install_command: config.install_command ?? null,
  build_command: config.build_command ?? null,
  template_id: config.template_id ?? null,
})

export const presentRevisionConfig = (config: SourceRevisionConfig) => ({
  repo_ref: config.repo_ref ?? null,
  langgraph_config_path: config.langgraph_config_path ?? null,
  image_uri: config.image_uri ?? null,
  source_tarball_path: config.source_tarball_path ?? null,
  repo_commit_sha: config.repo_commit_sha ?? null,
  tracked_packages: config.tracked_packages ?? null,
})

async function secretsOf({ secrets, showSecrets }: ControlPlaneContext, deployment: DeploymentRecord) {
  if (showSecrets === 'none') return []
  if (showSecrets === 'plaintext') return secrets.open(partitionOf(deployment.id), deployment.secrets)
  return deployment.secrets.map(({ name }) => ({ name, value: MASK }))
}
