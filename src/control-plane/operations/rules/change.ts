import { refusal } from '../../errors.ts'
import type { NewRevision } from '../../records/deployments.ts'
import type {
  DeploymentRecord,
  RevisionRecord,
  SealedSecret,
  SecretReference,
  SourceConfig,
  SourceRevisionConfig,
} from '../../records/records.ts'

/** A request's changes. Null means omitted: it never clears a field. */
export interface Change {
  readonly sourceConfig?: SourceConfig | null | undefined
  readonly sourceRevisionConfig?: SourceRevisionConfig | null | undefined
  readonly trackedPackages?: readonly string[] | null | undefined
  /** An empty list changes nothing. */
  readonly secrets?: readonly SealedSecret[] | undefined
  /** An empty list removes them. */
  readonly secretReferences?: readonly SecretReference[] | null | undefined
  readonly displayName?: string | null | undefined
}

/** What cannot change after a deployment was created, by the names in error messages. */
const FIXED: Readonly<Record<string, (config: SourceConfig) => unknown>> = {
  integration_id: (config) => config.integration_id,
  repo_url: (config) => config.repo_url,
  deployment_type: (config) => config.deployment_type,
  listener_id: (config) => config.listener_id,
  'listener_config.k8s_namespace': (config) => config.listener_config?.k8s_namespace,
  template_id: (config) => config.template_id,
}

/** The inputs of every revision, besides its secrets. */
const REVISION_INPUTS = ['resource_spec', 'install_command', 'build_command'] as const

/** Throws 400 for a field that cannot change. Sending its current value is allowed. */
export function checkFixed(
  deployment: DeploymentRecord,
  sourceConfig: SourceConfig | null | undefined,
): void {
  for (const [field, read] of Object.entries(FIXED)) {
    const value = read(sourceConfig ?? {})
    if (value == null || value === read(deployment.sourceConfig)) continue
    throw refusal(400, `'source_config.${field}' cannot be changed once the deployment is created.`)
  }
}

/** The deployment with the change. `makesRevision` also applies the change to the revision's part. */
export function withChange(
  deployment: DeploymentRecord,
  change: Change,
  makesRevision: boolean,
): DeploymentRecord {
  const { listener_config: _, ...config } = withoutNulls(change.sourceConfig)
  const changed: DeploymentRecord = {
    ...deployment,
    displayName: change.displayName ?? deployment.displayName,
    sourceConfig: { ...deployment.sourceConfig, ...config },
  }
  if (!makesRevision) return changed
  // The commit belongs to the previous revision.
  const { repo_commit_sha: __, ...revisionConfig } = deployment.sourceRevisionConfig
  return {
    ...changed,
    sourceRevisionConfig: { ...revisionConfig, ...revisionConfigOf(change) },
    secrets: change.secrets?.length ? change.secrets : deployment.secrets,
    secretReferences: change.secretReferences ?? deployment.secretReferences,
  }
}

/** Whether a PATCH creates a revision: not for `build_on_push`, `custom_url` and `display_name`. */
export function makesRevision(change: Change): boolean {
  const config = withoutNulls(change.sourceConfig)
  return (
    Object.keys(revisionConfigOf(change)).length > 0 ||
    REVISION_INPUTS.some((field) => config[field] !== undefined) ||
    (change.secrets?.length ?? 0) > 0 ||
    change.secretReferences != null
  )
}

/** The revision that the deployment's current state creates. */
export const revisionOf = (deployment: DeploymentRecord): NewRevision => ({
  sourceConfig: deployment.sourceConfig,
  sourceRevisionConfig: deployment.sourceRevisionConfig,
  secrets: deployment.secrets,
  secretReferences: deployment.secretReferences,
})

/** The deployment with everything that an earlier revision was created with, and the new revision. */
export function redeployed(
  deployment: DeploymentRecord,
  revision: RevisionRecord,
): { readonly deployment: DeploymentRecord; readonly revision: NewRevision } {
  const { resource_spec, install_command, build_command } = revision.sourceConfig
  const changed: DeploymentRecord = {
    ...deployment,
    sourceConfig: { ...deployment.sourceConfig, resource_spec, install_command, build_command },
    sourceRevisionConfig: revision.sourceRevisionConfig,
    secrets: revision.secrets,
    secretReferences: revision.secretReferences,
  }
  return {
    deployment: changed,
    revision: { ...revisionOf(changed), source: revision.source, builtBy: revision },
  }
}

const revisionConfigOf = ({ sourceRevisionConfig, trackedPackages }: Change): SourceRevisionConfig => ({
  ...withoutNulls(sourceRevisionConfig),
  ...(trackedPackages != null && { tracked_packages: trackedPackages }),
})

export const withoutNulls = <T extends object>(value: T | null | undefined): T =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([, member]) => member != null)) as T
