import * as z from 'zod/mini'
import * as t from './common.ts'

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

export const INTEGRATION_PATH = z.object({ integration_id: t.UUID })

export const INTEGRATION_LIST = t.list(
  t.titled('GithubIntegration', { id: t.UUID, installation_id: t.INTEGER, name: t.STRING }),
)

export const REPOSITORY_LIST = t.list(
  t.titled('GithubRepository', {
    host_integration_id: t.UUID,
    id: t.INTEGER,
    name: t.STRING,
    owner: t.STRING,
    url: t.STRING,
    default_branch: t.STRING,
  }),
)
