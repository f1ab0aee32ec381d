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
