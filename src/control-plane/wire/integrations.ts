import { STRING, UUID } from './common.ts'

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

export const INTEGRATION_PATH = {
  properties: { integration_id: UUID },
} as const

export const INTEGRATION_LIST = {
  type: 'array',
  items: {
    title: 'GithubIntegration',
    type: 'object',
    properties: { id: UUID, installation_id: { type: 'integer' }, name: STRING },
    required: ['id', 'installation_id', 'name'],
  },
} as const

export const REPOSITORY_LIST = {
  type: 'array',
  items: {
    title: 'GithubRepository',
    type: 'object',
    properties: {
      host_integration_id: UUID,
      id: { type: 'integer' },
      name: STRING,
      owner: STRING,
      url: STRING,
      default_branch: STRING,
    },
    required: ['host_integration_id', 'id', 'name', 'owner', 'url', 'default_branch'],
  },
} as const
