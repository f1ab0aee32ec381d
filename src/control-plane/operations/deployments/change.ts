import type { RequestKey } from '../../api/headers.ts'
import type { ControlPlaneContext } from '../../context.ts'
import { refusal } from '../../errors.ts'
import type {
  DeploymentRecord,
  NewRevision,
  RevisionRecord,
  SealedSecret,
  SecretReference,
  SourceConfig,
  SourceRevisionConfig,
} from '../../records/records.ts'
import { partitionOf } from '../../records/stored.ts'
import type { PatchBody } from '../../wire/deployment.ts'
import { checkDeployable, checkNames, checkSecrets, checkSource, isDeployable } from '../rules.ts'
import { NOT_UPLOADED, takeUpload } from './uploads.ts'

/** How a deployment is changed. */
interface ChangeOptions {
  /** Creates a revision even if nothing in it changes. */
  readonly isRevision?: boolean
  /** The revision is created once for this key. */
  readonly key?: RequestKey | undefined
  /** Called with the deployment before the change. It may throw. */
  readonly check?: (deployment: DeploymentRecord) => void
}

/** Changes a deployment, and creates a revision if the change affects one. Throws 400. */
export async function changeDeployment(
  context: ControlPlaneContext,
  { id }: DeploymentRecord,
  body: Partial<PatchBody>,
  { isRevision = false, key, check }: ChangeOptions,
): Promise<DeploymentRecord> {
  const { secrets, secret_references: secretReferences } = body
  checkSecrets(secrets ?? [], secretReferences ?? [])
  const path = body.source_revision_config?.source_tarball_path
  if (path != null && !(await takeUpload(context, id, path))) throw refusal(400, NOT_UPLOADED)
  const change: Change = {
    sourceConfig: body.source_config,
    sourceRevisionConfig: body.source_revision_config,
    trackedPackages: body.tracked_packages,
    secrets: await context.secrets.seal(partitionOf(id), secrets ?? []),
    secretReferences,
    displayName: body.display_name,
  }
  return context.deployments.update(id, (deployment) => {
    check?.(deployment)
    checkFixed(deployment, change.sourceConfig)
    const source = body.revision_source ?? deployment.source
    const isMade = isRevision || source !== deployment.source
    const wantsRevision = isMade || makesRevision(change)
    const changed = withChange(deployment, change, wantsRevision)
    const asked = { ...changed, source }
    checkSource(asked, false, change)
    checkNames(changed.secrets, changed.secretReferences)
    if (!wantsRevision) return { deployment: changed }
    if (!isDeployable(asked)) {
      if (isMade) throw refusal(400, NOTHING_TO_DEPLOY[source]!)
      return { deployment: changed }
    }
    checkDeployable(context.deployer, asked, body)
    return { deployment: changed, revision: { ...revisionOf(changed), source, ...key } }
  })
}

const NOTHING_TO_DEPLOY: Readonly<Record<string, string>> = {
  internal_source: `There is nothing to deploy yet. ${NOT_UPLOADED}`,
  internal_docker: "There is nothing to deploy yet: 'source_revision_config.image_uri' is required.",
}

/** A request's changes. Null means omitted: it never clears a field. */
interface Change {
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
function checkFixed(deployment: DeploymentRecord, sourceConfig: SourceConfig | null | undefined): void {
  for (const [field, read] of Object.entries(FIXED)) {
    const value = read(sourceConfig ?? {})
    if (value == null || value === read(deployment.sourceConfig)) continue
    throw refusal(400, `'source_config.${field}' cannot be changed once the deployment is created.`)
  }
}

/** The deployment with the change. `makesRevision` also applies the change to the revision's part. */
function withChange(deployment: DeploymentRecord, change: Change, makesRevision: boolean): DeploymentRecord {
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
function makesRevision(change: Change): boolean {
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
