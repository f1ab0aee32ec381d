import type { NewRevision } from '../../records/deployments.ts'
import type { DeploymentRecord, RevisionRecord } from '../../records/records.ts'
import { revisionOf } from './change.ts'

/** The deployment with all that an earlier revision was made with, and the new revision. */
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
