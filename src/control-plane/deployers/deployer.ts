import { AgentwireError } from '../../core/errors.ts'
import type { Json } from '../../storage/index.ts'
import type { SecretReference, Source, SourceConfig, SourceRevisionConfig } from '../records/records.ts'

/**
 * Prepares, builds, starts and stops deployments. The control plane manages records, order and statuses.
 * After a crash, a phase may run again for the same revision, also on another instance, so it must tolerate
 * what an earlier attempt left. If a phase throws, the revision fails: the message of a `DeployError` is
 * shown to clients, any other error only goes to `onError`.
 */
export interface Deployer {
  /** Why it cannot deploy this request: a sentence for the client (400), or the invalid fields (422). */
  readonly refuses: (request: DeployRequest) => string | readonly FieldRefusal[] | undefined
  /** Fetches the source. `CREATING`. */
  readonly prepare?: ((context: PhaseContext) => Promise<Prepared>) | undefined
  /** Creates the artifact that all deploys of the revision start from. `BUILDING`. */
  readonly build?: ((context: PhaseContext & { readonly prepared: Json }) => Promise<Json>) | undefined
  /** Starts the new server while the old one is running, and returns when it is ready. `DEPLOYING`. */
  readonly deploy: (context: DeployContext) => Promise<Running>
  /**
   * Routes requests to the new server instead of the previous one, which is not stopped here. Newer revisions
   * do not abort it, so it must be short. The result is stored. Default: `deploy` has already done it.
   */
  readonly promote?: ((context: DeployContext, running: Running) => Promise<Running>) | undefined
  /** Stops a server after its requests have ended. Does nothing if it does not exist. */
  readonly stop: (running: Running, context: DeploymentContext) => Promise<void>
  /** Removes everything that a deployment has left. Does nothing if nothing is left. */
  readonly destroy: (context: DeploymentContext) => Promise<void>
  /**
   * For servers that end with this process: after a restart, starts the active revision again from its
   * artifact. The instance that started the servers keeps the deployment's lease while they run.
   */
  readonly recover?: ((context: DeployContext, running: Running) => Promise<Running>) | undefined
  /**
   * Called before `recover`, which may have to wait: takes the address, and responds that the deployment is
   * down.
   */
  readonly standBy?: ((context: DeployContext, running: Running) => Promise<Running>) | undefined
  /** Whether it deploys clients' uploads, which it reads with `openUpload`. Default: false. */
  readonly takesUploads?: boolean | undefined
  /** A token for pushing images, for `internal_docker`. */
  readonly pushToken?:
    | ((context: DeploymentContext) => Promise<{ readonly token: string; readonly registryUrl: string }>)
    | undefined
  /** Stops what runs in this process. */
  readonly close?: (() => Promise<void>) | undefined
}

/** A request field that a deployer rejects. */
export interface FieldRefusal {
  /** Names and indexes, such as `['source_config', 'resource_spec', 'volumes', 0, 'hostPath']`. */
  readonly path: readonly (string | number)[]
  /** A sentence for the client. */
  readonly message: string
}

/** The requested deployment or revision. */
export interface DeployRequest {
  readonly source: Source
  readonly sourceConfig: SourceConfig
  readonly sourceRevisionConfig: SourceRevisionConfig
  readonly secretReferences: readonly SecretReference[]
}

export interface DeploymentContext {
  readonly deploymentId: string
  readonly name: string
  /** Null without authentication. */
  readonly owner: string | null
  readonly signal: AbortSignal
  /** Adds a line to the server's log. Values of secrets are masked. */
  readonly log: (line: string, level?: LogLevel) => void
}

export interface PhaseContext extends DeploymentContext, DeployRequest {
  readonly revisionId: string
  /** 1 for the first revision of the deployment. */
  readonly revisionNumber: number
  /** The secrets in plain text, by name. */
  readonly secrets: Readonly<Record<string, string>>
  /** Reads the upload of a `source_tarball_path`. Undefined if it no longer exists. */
  readonly openUpload: (path: string) => Promise<ReadableStream<Uint8Array> | undefined>
  /** Adds a line to the phase's log: `build` in `prepare` and `build`, otherwise `deploy`. */
  readonly log: (line: string, level?: LogLevel) => void
}

export interface DeployContext extends PhaseContext {
  /** The result of `build`, or that of `prepare` if there is no `build`. */
  readonly artifact: Json
  /** The currently active server. */
  readonly previous: Running | undefined
}

export interface Prepared {
  /** The input of `build`. */
  readonly prepared: Json
  /** The commit that `repo_ref` resolved to. */
  readonly repoCommitSha?: string | undefined
}

/** A started server. */
export interface Running {
  readonly url: string
  /** What `stop`, `promote` and `recover` need. It is stored. */
  readonly handle: Json
}

export type LogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL'

/** A deployer's failure that clients can fix. The message is shown to them. */
export class DeployError extends AgentwireError {
  static override readonly brand = 'DeployError'
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('deploy_failed', message, options)
  }
}
