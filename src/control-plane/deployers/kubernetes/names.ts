import { createHash } from 'node:crypto'
import type { DeploymentContext, PhaseContext } from '../deployer.ts'

/** The label of all objects of a deployment. */
export const DEPLOYMENT_LABEL = 'agentwire/deployment'
/** The label of one revision's servers, which the Service selects. */
export const WORKLOAD_LABEL = 'agentwire/workload'
export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by'
/** The number of the revision that an object was last applied for. */
export const REVISION_ANNOTATION = 'agentwire/revision'
/** The deploy attempt that last applied an object. Earlier attempts must not stop it. */
export const ATTEMPT_ANNOTATION = 'agentwire/attempt'

/** The namespace, Service and labels of a deployment. */
export interface Scope {
  readonly namespace: string
  readonly service: string
  readonly labels: Readonly<Record<string, string>>
}

export function scopeOf(deployment: DeploymentContext, namespace: string): Scope {
  return {
    namespace,
    service: objectName(deployment.name, deployment.deploymentId),
    labels: labelsOf(deployment),
  }
}

export const labelsOf = ({
  deploymentId,
}: Pick<DeploymentContext, 'deploymentId'>): Readonly<Record<string, string>> => ({
  [DEPLOYMENT_LABEL]: labelValue(deploymentId),
})

/** The name of a revision's Deployment, Secret and autoscaler. */
export const workloadName = (revision: PhaseContext): string =>
  objectName(revision.name, `${revision.deploymentId}/${revision.revisionId}`)

/**
 * A name that every kind of object accepts (RFC 1035), of at most 41 characters: Kubernetes adds up to 17 for
 * pod names, which are labels of at most 63.
 */
function objectName(name: string, id: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 30)
    .replace(/(?<!-)-+$/, '')
  return `${slug || 'agent'}-${digest(id).slice(0, 10)}`
}

/** An id as a label value, or its digest if a label cannot contain it. */
const labelValue = (id: string): string =>
  /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/.test(id) ? id : digest(id).slice(0, 32)

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
