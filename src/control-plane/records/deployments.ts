import type { RevisionRecord, Source } from './records.ts'

/** What a new revision copies from the deployment, and what is new. */
export interface NewRevision
  extends Pick<
    RevisionRecord,
    'sourceConfig' | 'sourceRevisionConfig' | 'secrets' | 'secretReferences' | 'fingerprint'
  > {
  /** Default: the deployment's source. */
  readonly source?: Source | undefined
  /**
   * If given, the revision is created only once: a second call returns the first one's. Default: a new id.
   */
  readonly id?: string | undefined
  /** Reuses what an earlier revision has prepared and built. */
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
