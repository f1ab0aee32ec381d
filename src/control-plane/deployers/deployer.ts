import { AgentwireError } from '../../errors.ts'
import type { Json } from '../../storage/index.ts'
import type { SecretReference, Source, SourceConfig, SourceRevisionConfig } from '../records/records.ts'

/**
 * Prepares, builds, starts and stops. The control plane owns records, order and statuses. A phase may be
 * started again for the same revision after a crash, also on another instance, so it has to tolerate what an
 * earlier attempt left. An error of a phase fails the revision: the message of a `DeployError` is shown, any
 * other error goes to `onError` only.
 */
export interface Deployer {
  /** Why it cannot deploy this: a sentence for the client (400), or the fields that are wrong (422). */
  readonly refuses: (request: DeployRequest) => string | readonly FieldRefusal[] | undefined
  /** Fetches the source. `CREATING`. */
  readonly prepare?: ((context: PhaseContext) => Promise<Prepared>) | undefined
  /** Makes the artifact, from which all deploys of the revision start. `BUILDING`. */
  readonly build?: ((context: PhaseContext & { readonly prepared: Json }) => Promise<Json>) | undefined
  /** Starts the new server while the old one serves, and returns when it is ready. `DEPLOYING`. */
  readonly deploy: (context: DeployContext) => Promise<Running>
  /**
   * Sends requests to the new server instead of the one before, which is not stopped here. Newer revisions do
   * not abort it, so it has to be short. The result is stored. Default: `deploy` has done it.
   */
  readonly promote?: ((context: DeployContext, running: Running) => Promise<Running>) | undefined
  /** Stops a server, after its requests have ended. Does nothing if it is gone. */
  readonly stop: (running: Running, context: DeploymentContext) => Promise<void>
  /** Removes all that a deployment has left. Does nothing if that is gone. */
  readonly destroy: (context: DeploymentContext) => Promise<void>
  /**
   * For servers that end with this process: starts the active revision again from its artifact, after a
   * restart. The instance that started the servers keeps the lease of the deployment while they serve.
   */
  readonly recover?: ((context: DeployContext, running: Running) => Promise<Running>) | undefined
  /** Called before `recover`, which may have to wait: takes the address, and answers that it is down. */
  readonly standBy?: ((context: DeployContext, running: Running) => Promise<Running>) | undefined
  /** Whether it deploys uploads of clients, which it reads with `openUpload`. Default: false. */
  readonly takesUploads?: boolean | undefined
  /** A token for pushing images, for `internal_docker`. */
  readonly pushToken?:
    | ((context: DeploymentContext) => Promise<{ readonly token: string; readonly registryUrl: string }>)
    | undefined
  /** Ends what runs in this process. */
  readonly close?: (() => Promise<void>) | undefined
}

/** A field of a request that a deployer does not take. */
export interface FieldRefusal {
  /** Names and indexes, such as `['source_config', 'resource_spec', 'volumes', 0, 'hostPath']`. */
  readonly path: readonly (string | number)[]
  /** A sentence for the client. */
  readonly message: string
}

/** What a deployment or a revision asks for. */
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
  /** Adds a line to the log of the server. Values of secrets are masked. */
  readonly log: (line: string, level?: LogLevel) => void
}

export interface PhaseContext extends DeploymentContext, DeployRequest {
  readonly revisionId: string
  /** 1 for the first revision of the deployment. */
  readonly revisionNumber: number
  /** The secrets in clear, by name. */
  readonly secrets: Readonly<Record<string, string>>
  /** Reads the upload of a `source_tarball_path`. Undefined if it is gone. */
  readonly openUpload: (path: string) => Promise<ReadableStream<Uint8Array> | undefined>
  /** Adds a line to the log of the phase: `build` in `prepare` and `build`, otherwise `deploy`. */
  readonly log: (line: string, level?: LogLevel) => void
}

export interface DeployContext extends PhaseContext {
  /** The result of `build`, or that of `prepare` if there is no `build`. */
  readonly artifact: Json
  /** The server that serves now. */
  readonly previous: Running | undefined
}

export interface Prepared {
  /** The input of `build`. */
  readonly prepared: Json
  /** The commit that `repo_ref` named. */
  readonly repoCommitSha?: string | undefined
}

/** A started server. */
export interface Running {
  readonly url: string
  /** What `stop`, `promote` and `recover` need. It is stored. */
  readonly handle: Json
}

export type LogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL'

/** A failure of a deployer that its clients can fix: the message is shown to them. */
export class DeployError extends AgentwireError {
  static override readonly brand = 'DeployError'
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('deploy_failed', message, options)
  }
}
