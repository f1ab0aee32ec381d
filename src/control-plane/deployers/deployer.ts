import type { Json } from '../../storage/index.ts'
import type { SecretReference, Source, SourceConfig, SourceRevisionConfig } from '../records/records.ts'

/**
 * What really prepares, builds, starts and stops. The control plane owns records, order and statuses; a deployer does the work and
 * reports. Each phase may be begun again for the same revision after a crash, also on another instance, so it has to tolerate what an
 * earlier attempt left. What a phase throws fails the revision: the message of a `DeployError` is shown, any other error is told to
 * `onError` only.
 */
export interface Deployer {
  /** Why it cannot deploy this: a sentence for the client (400), or what is wrong with fields of the request (422). Undefined where it can. */
  readonly refuses: (request: DeployRequest) => string | readonly FieldRefusal[] | undefined
  /** Fetches the source. `CREATING`. */
  readonly prepare?: ((context: PhaseContext) => Promise<Prepared>) | undefined
  /** Gives the artifact, which every later deploy of the revision starts from. Without it there is nothing to build. `BUILDING`. */
  readonly build?: ((context: PhaseContext & { readonly prepared: Json }) => Promise<Json>) | undefined
  /** Starts the server beside the one that serves, and returns when it is ready. `DEPLOYING`. */
  readonly deploy: (context: DeployContext) => Promise<Running>
  /**
   * Sends requests to the started server instead of the one before, which is not stopped here. Its time is short: it is not aborted by
   * newer revisions. The result is what is stored. Default: `deploy` has done it.
   */
  readonly promote?: ((context: DeployContext, running: Running) => Promise<Running>) | undefined
  /** Stops a server, once its requests have ended. Does nothing for one that is not there. */
  readonly stop: (running: Running, context: DeploymentContext) => Promise<void>
  /** Removes all that a deployment has left. Does nothing for what is not there. */
  readonly destroy: (context: DeploymentContext) => Promise<void>
  /**
   * A deployer whose servers end with this process: called for the active revision after a restart, it starts it again from its artifact.
   * The instance that started them keeps the lease of the deployment for as long as they serve.
   */
  readonly recover?: ((context: DeployContext, running: Running) => Promise<Running>) | undefined
  /** Called before `recover`, which may have to wait for its turn: takes the address again, and tells clients to come later. */
  readonly standBy?: ((context: DeployContext, running: Running) => Promise<Running>) | undefined
  /** Whether it deploys what clients upload, and reads it with `openUpload`. Default: false, and there are no upload URLs. */
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
  /** The names and indexes that lead to it, such as `['source_config', 'resource_spec', 'volumes', 0, 'hostPath']`. */
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
  /** Whose it is. Null without authentication. */
  readonly owner: string | null
  readonly signal: AbortSignal
  /** A line for the log of the server. Values of secrets are masked. */
  readonly log: (line: string, level?: LogLevel) => void
}

export interface PhaseContext extends DeploymentContext, DeployRequest {
  readonly revisionId: string
  /** 1 for the first revision of the deployment. */
  readonly revisionNumber: number
  /** The secrets in clear, by name. */
  readonly secrets: Readonly<Record<string, string>>
  /** Reads the upload that a `source_tarball_path` names. Undefined where it is not there any more. */
  readonly openUpload: (path: string) => Promise<ReadableStream<Uint8Array> | undefined>
  /** A line for the log of the phase: `build` in `prepare` and `build`, else `deploy`. Values of secrets are masked. */
  readonly log: (line: string, level?: LogLevel) => void
}

export interface DeployContext extends PhaseContext {
  /** What `build` gave; what `prepare` gave where there is no `build`. */
  readonly artifact: Json
  /** The server that serves now. */
  readonly previous: Running | undefined
}

export interface Prepared {
  /** What `build` is given. */
  readonly prepared: Json
  /** The commit that `repo_ref` named. */
  readonly repoCommitSha?: string | undefined
}

/** A started server. */
export interface Running {
  /** Where it is reached. */
  readonly url: string
  /** What `stop`, `promote` and `recover` need. It is stored. */
  readonly handle: Json
}

export type LogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL'
