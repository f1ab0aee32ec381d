import type { RequestKey } from '../../api/idempotency-key.ts'
import type { ControlPlaneContext } from '../../context.ts'
import { refusal } from '../../errors.ts'
import type {
  DeploymentRecord,
  SecretReference,
  Source,
  SourceConfig,
  SourceRevisionConfig,
} from '../../records/records.ts'
import { partitionOf } from '../../records/stored.ts'
import type { Secret } from '../../secrets/secret-box.ts'
import { type Change, checkFixed, makesRevision, revisionOf, withChange } from '../rules/change.ts'
import { checkNames, checkSecrets } from '../rules/secrets.ts'
import { checkDeployable, checkSource, isDeployable } from '../rules/sources.ts'
import { NOT_UPLOADED, takeUpload } from './uploads.ts'

/** The changes of a request, with the names of the wire. */
export interface ChangeRequest {
  readonly source_config?: SourceConfig | null | undefined
  readonly source_revision_config?: SourceRevisionConfig | null | undefined
  readonly secrets?: readonly Secret[] | null | undefined
  readonly secret_references?: readonly SecretReference[] | null | undefined
  readonly tracked_packages?: readonly string[] | null | undefined
  readonly displayName?: string | null | undefined
  /** That of the revision which the change makes. Default: that of the deployment. */
  readonly source?: Source | null | undefined
  /** It makes a revision, whatever it changes. */
  readonly isRevision?: boolean
  /** The revision is made once for this key. */
  readonly key?: RequestKey | undefined
  /** Called with what is changed. It may throw. */
  readonly check?: ((deployment: DeploymentRecord) => void) | undefined
}

/** Changes a deployment, and makes a revision of it where the change is one of the revision. Throws 400. */
export async function changeDeployment(
  context: ControlPlaneContext,
  { id }: DeploymentRecord,
  request: ChangeRequest,
): Promise<DeploymentRecord> {
  const secrets = request.secrets ?? []
  checkSecrets(secrets, request.secret_references ?? [])
  checkNames(secrets, request.secret_references ?? [])
  const path = request.source_revision_config?.source_tarball_path
  if (path != null && !(await takeUpload(context, id, path))) throw refusal(400, NOT_UPLOADED)
  const change: Change = {
    sourceConfig: request.source_config,
    sourceRevisionConfig: request.source_revision_config,
    trackedPackages: request.tracked_packages,
    secrets: await context.secrets.seal(partitionOf(id), secrets),
    secretReferences: request.secret_references,
    displayName: request.displayName,
  }
  return context.deployments.update(id, (deployment) => {
    request.check?.(deployment)
    checkFixed(deployment, change.sourceConfig)
    const source = request.source ?? deployment.source
    const isMade = request.isRevision === true || source !== deployment.source
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
    checkDeployable(context.deployer, asked, request)
    return { deployment: changed, revision: { ...revisionOf(changed), source, ...request.key } }
  })
}

const NOTHING_TO_DEPLOY: Readonly<Record<string, string>> = {
  internal_source: `There is nothing to deploy yet. ${NOT_UPLOADED}`,
  internal_docker: "There is nothing to deploy yet: 'source_revision_config.image_uri' is required.",
}
