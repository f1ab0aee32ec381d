import * as z from 'zod/mini'
import { INTEGER, STRING, titled, UUID } from './common.ts'

/** The Git hosts that deployments take their code from: what the API answers about them. */
export interface GitIntegrations {
  list(owner: string | null): Promise<readonly GitIntegration[]>
  /** Undefined where there is no integration of this id for the owner. */
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

export const INTEGRATION_PATH = /* @__PURE__ */ z.object({ integration_id: UUID })

export const INTEGRATION_LIST = /* @__PURE__ */ z.array(
  titled('GithubIntegration', { id: UUID, installation_id: INTEGER, name: STRING }),
)

export const REPOSITORY_LIST = /* @__PURE__ */ z.array(
  titled('GithubRepository', {
    host_integration_id: UUID,
    id: INTEGER,
    name: STRING,
    owner: STRING,
    url: STRING,
    default_branch: STRING,
  }),
)
