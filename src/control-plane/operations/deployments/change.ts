import type { RequestKey } from '../../api/idempotency-key.ts'
import type { ControlPlaneContext } from '../../context.ts'
import { refusal } from '../../errors.ts'
import type { DeploymentRecord } from '../../records/records.ts'
import { partitionOf } from '../../records/stored.ts'
import type { PatchBody } from '../../wire/deployment.ts'
import { type Change, checkFixed, makesRevision, revisionOf, withChange } from '../rules/change.ts'
import { checkNames, checkSecrets } from '../rules/secrets.ts'
import { checkDeployable, checkSource, isDeployable } from '../rules/sources.ts'
import { NOT_UPLOADED, takeUpload } from './uploads.ts'

/** How a deployment is changed. */
export interface ChangeOptions {
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
