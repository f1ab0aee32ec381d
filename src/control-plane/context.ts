import type { OnError } from '../core/http/index.ts'
import type { Store } from '../storage/index.ts'
import type { AuthService } from './auth/methods.ts'
import type { Deployer } from './deployers/deployer.ts'
import type { Logs } from './logs/logs.ts'
import type { Deployments } from './records/create-deployments.ts'
import type { Uploads } from './records/uploads/uploads.ts'
import type { SecretBox } from './secrets/secret-box.ts'

export interface ControlPlaneContext {
  readonly store: Store
  readonly deployer: Deployer
  readonly deployments: Deployments
  readonly secrets: SecretBox
  /** How responses show the values of secrets. */
  readonly showSecrets: 'masked' | 'plaintext' | 'none'
  readonly logs: Logs
  readonly uploads: Uploads
  /** Makes the workers look for work. */
  readonly wake: () => void
  readonly auth: AuthService | undefined
  readonly integrations: GitIntegrations | undefined
  readonly onError: OnError
  /** Aborts when the handler closes, which ends streams and waits. */
  readonly closing: AbortSignal
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** The Git hosts of deployments' code, as the API returns them. */
export interface GitIntegrations {
  list(owner: string | null): Promise<readonly GitIntegration[]>
  /** Undefined if the owner has no integration with this id. */
  repositories(owner: string | null, integrationId: string): Promise<readonly GitRepository[] | undefined>
}

export interface GitIntegration {
  /** A UUID. */
  readonly id: string
  readonly installation_id: number
  readonly name: string
}

export interface GitRepository {
  /** A UUID. */
  readonly host_integration_id: string
  readonly id: number
  readonly name: string
  readonly owner: string
  readonly url: string
  readonly default_branch: string
}
