import type { Json } from '../../storage/index.ts'

/** Where a deployment's code comes from. It never changes. */
export type Source =
  | 'github'
  | 'external_docker'
  | 'internal_docker'
  | 'internal_source'
  | 'internal_template'

export const DEPLOYMENT_STATUSES = [
  /** Created, and not yet seen by a worker. */
  'AWAITING_DATABASE',
  'READY',
  'UNUSED',
  /** Its servers are being stopped. */
  'AWAITING_DELETE',
  /** Nothing is running, and what it left is being removed. */
  'AWAITING_FINAL_DELETE',
  'UNKNOWN',
] as const
type DeploymentStatus = (typeof DEPLOYMENT_STATUSES)[number]

export const REVISION_STATUSES = [
  /** Its source is being prepared. */
  'CREATING',
  /** Waits until the deployment is working on no other revision. */
  'QUEUED',
  /** Waits for a free build slot. */
  'AWAITING_BUILD',
  'BUILDING',
  'AWAITING_DEPLOY',
  'DEPLOYING',
  'DEPLOYED',
  'CREATE_FAILED',
  'BUILD_FAILED',
  'DEPLOY_FAILED',
  /** Superseded by a newer revision. */
  'SKIPPED',
  'INTERRUPTED',
  /** It was deployed, and its server could not be reached after a restart. */
  'UNKNOWN',
] as const
export type RevisionStatus = (typeof REVISION_STATUSES)[number]

/** A secret as it is stored: encrypted by the `SecretBox`. */
export interface SealedSecret {
  readonly name: string
  readonly sealed: string
}

export interface SecretReference {
  readonly name: string
  readonly secret_name: string
  readonly secret_key: string
}

/** The API's `source_config`, with wire names: it is stored and returned unchanged. */
export interface SourceConfig {
  readonly integration_id?: string | null | undefined
  readonly repo_url?: string | null | undefined
  readonly deployment_type?: string | null | undefined
  readonly build_on_push?: boolean | null | undefined
  readonly custom_url?: string | null | undefined
  readonly resource_spec?: { readonly [key: string]: Json | undefined } | null | undefined
  readonly listener_id?: string | null | undefined
  readonly listener_config?: { readonly [key: string]: Json | undefined } | null | undefined
  readonly install_command?: string | null | undefined
  readonly build_command?: string | null | undefined
  readonly template_id?: string | null | undefined
}

/** The API's `source_revision_config`. */
export interface SourceRevisionConfig {
  /** A branch, or `refs/tags/…`. */
  readonly repo_ref?: string | null | undefined
  readonly langgraph_config_path?: string | null | undefined
  readonly image_uri?: string | null | undefined
  /** The result of `upload-url`. */
  readonly source_tarball_path?: string | null | undefined
  /** Set by the deployer. */
  readonly repo_commit_sha?: string | null | undefined
  readonly tracked_packages?: readonly string[] | null | undefined
}

export interface DeploymentRecord {
  readonly id: string
  /** The owner, as `ownerOf` spells it. Null without authentication. */
  readonly owner: string | null
  /** The API's `tenant_id`, a UUID. */
  readonly tenantId: string
  readonly name: string
  readonly displayName: string | null
  readonly agent: { readonly agent_id: string; readonly environment: string } | null
  readonly source: Source
  readonly sourceConfig: SourceConfig
  /** The newest revision's. */
  readonly sourceRevisionConfig: SourceRevisionConfig
  readonly secrets: readonly SealedSecret[]
  readonly secretReferences: readonly SecretReference[]
  readonly status: DeploymentStatus
  readonly latestRevisionId: string | null
  readonly activeRevisionId: string | null
  /** Revisions that are not final, oldest first. */
  readonly pending: readonly string[]
  /** The number of revisions ever created for it. */
  readonly revisionCount: number
  /** Servers that a newer revision has replaced and that are being stopped. */
  readonly retiring: readonly RunningServer[]
  /** The URL of the active revision. */
  readonly url: string | null
  readonly imageVersion: string | null
  readonly tagValueIds: readonly string[]
  /** The API's tiers. They are stored and returned; deployers do not read them. */
  readonly tiers?: Tiers | undefined
  readonly tracerSessionId: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
  /** Created by a request with an `Idempotency-Key`: the digest of its body. */
  readonly fingerprint?: string | undefined
}

interface Tiers {
  readonly compute?: string | undefined
  readonly database?: string | undefined
  readonly deployment?: string | undefined
}

/** A started server of a revision. */
export interface RunningServer {
  readonly revisionId: string
  readonly url: string
  /** What the deployer needs to reach it. */
  readonly handle: Json
}

export interface StatusChange {
  readonly status: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** The reason, for people to read. */
  readonly reason?: string | undefined
}

/** The statuses of revisions that a worker has not finished. */
export const UNDER_WAY: ReadonlySet<RevisionStatus> = /* @__PURE__ */ new Set<RevisionStatus>([
  'CREATING',
  'QUEUED',
  'AWAITING_BUILD',
  'BUILDING',
  'AWAITING_DEPLOY',
  'DEPLOYING',
])

export interface RevisionRecord {
  readonly id: string
  readonly deploymentId: string
  /** The deployment's, so that returning a revision does not need both records. */
  readonly owner: string | null
  /** 1 for the first revision of its deployment. */
  readonly number: number
  readonly source: Source
  /** As it was when the revision was created: a redeploy uses it again. */
  readonly sourceConfig: SourceConfig
  readonly sourceRevisionConfig: SourceRevisionConfig
  readonly secrets: readonly SealedSecret[]
  readonly secretReferences: readonly SecretReference[]
  readonly status: RevisionStatus
  /** All changes of its status, oldest first. */
  readonly history: readonly StatusChange[]
  /** Whether it is to be interrupted. */
  readonly isInterrupted?: boolean | undefined
  readonly prepared?: Json | undefined
  /** The result of `build`. A redeploy takes it from its revision. */
  readonly artifact?: Json | undefined
  /** The result of `deploy`. */
  readonly running?: { readonly url: string; readonly handle: Json } | undefined
  /** How often its current phase was started. */
  readonly attempts: number
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly fingerprint?: string | undefined
}

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
