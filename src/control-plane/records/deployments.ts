import type { DeploymentRecord, RevisionRecord, RevisionStatus, Source } from './records.ts'

/** What a new revision takes over from the deployment, and what it sets anew. */
export interface NewRevision
  extends Pick<
    RevisionRecord,
    'sourceConfig' | 'sourceRevisionConfig' | 'secrets' | 'secretReferences' | 'fingerprint'
  > {
  /** Default: that of its deployment. */
  readonly source?: Source | undefined
  /** Given, it is made only once: a second call finds the first one's. Default: a new id. */
  readonly id?: string | undefined
  /** Takes over what an earlier revision has prepared and built. */
  readonly builtBy?: RevisionRecord | undefined
}

export interface DeploymentFilter {
  readonly name?: string | undefined
  readonly nameContains?: string | undefined
  readonly status?: string | undefined
  readonly imageVersion?: string | undefined
  readonly deploymentType?: string | undefined
  readonly ids?: readonly string[] | undefined
  readonly tagValueIds?: readonly string[] | undefined
  readonly agentId?: string | undefined
  readonly agentEnvironment?: string | undefined
  readonly source?: Source | undefined
}

export interface PageRequest {
  readonly limit: number
  readonly offset: number
}

/** The records of deployments and revisions. Every change is one commit, and tells the workers. */
export interface Deployments {
  /** Undefined for an unknown one, and for one of another owner. */
  find(owner: string | null, id: string): Promise<DeploymentRecord | undefined>
  findRevision(
    deployment: Pick<DeploymentRecord, 'id' | 'owner'>,
    id: string,
  ): Promise<RevisionRecord | undefined>
  /** Newest first. */
  list(
    owner: string | null,
    filter: DeploymentFilter,
    page: PageRequest,
  ): Promise<readonly DeploymentRecord[]>
  /** Newest first. */
  listRevisions(
    deployment: DeploymentRecord,
    statuses: readonly RevisionStatus[] | undefined,
    page: PageRequest,
  ): Promise<readonly RevisionRecord[]>
  /** How many of the owner's have this `deployment_type`. */
  countOfType(owner: string | null, deploymentType: string): Promise<number>
  /** Throws 409 where the owner has one of this name, or of this agent and environment. */
  create(deployment: DeploymentRecord, first: NewRevision | undefined): Promise<DeploymentRecord>
  /**
   * Changes a deployment, and makes a revision of it where `change` gives one. `change` is called again where somebody else was first. Throws
   * 404 for one that is gone meanwhile.
   */
  update(
    id: string,
    change: (deployment: DeploymentRecord) => {
      readonly deployment: DeploymentRecord
      readonly revision?: NewRevision | undefined
    },
  ): Promise<DeploymentRecord>
  /** Has a revision stopped that is not final. Throws 400 for one that is. */
  interrupt(deployment: DeploymentRecord, revisionId: string): Promise<RevisionRecord>
  /** Has a deployment removed by the workers. `check` is called with what is removed, and may throw. */
  remove(deployment: DeploymentRecord, check?: (deployment: DeploymentRecord) => void): Promise<void>
  /** Settles when the deployment or one of its revisions changes, or the time is over. */
  changed(deploymentId: string, ms: number, signal: AbortSignal | undefined): Promise<void>
}
