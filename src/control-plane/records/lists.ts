import type { Doc, Store } from '../../storage/index.ts'
import { listFitting, recordsOf } from '../../storage/store/pages.ts'
import { idOfName } from './names.ts'
import type {
  DeploymentFilter,
  DeploymentRecord,
  PageRequest,
  RevisionRecord,
  RevisionStatus,
} from './records.ts'
import {
  DEPLOYMENTS,
  loadDeployment,
  ofDeployment,
  ofOwner,
  ofStatus,
  ofType,
  REVISIONS,
  recordOf,
} from './stored.ts'

/** The owner's deployments, newest first. */
export async function listDeployments(
  store: Store,
  owner: string | null,
  filter: DeploymentFilter,
  page: PageRequest,
): Promise<readonly DeploymentRecord[]> {
  const ids = filter.ids ?? (await idsNamed(store, owner, filter.name))
  const fits = (deployment: DeploymentRecord) => matches(deployment, filter)
  if (ids) return (await loadAll(store, owner, ids)).filter(fits).slice(page.offset, page.offset + page.limit)
  const { status, deploymentType, ...others } = filter
  const group =
    status !== undefined
      ? ofStatus(owner, status)
      : deploymentType !== undefined
        ? ofType(owner, deploymentType)
        : ofOwner(owner)
  const isWhole =
    (status === undefined || deploymentType === undefined) &&
    Object.values(others).every((value) => value === undefined)
  return pageOf(store, DEPLOYMENTS, group, page, isWhole ? undefined : fits)
}

async function idsNamed(store: Store, owner: string | null, name: string | undefined) {
  if (name === undefined) return undefined
  const id = await idOfName(store, owner, name)
  return id === undefined ? [] : [id]
}

/** The revisions of a deployment, newest first. */
export const listRevisions = (
  store: Store,
  deploymentId: string,
  statuses: readonly RevisionStatus[] | undefined,
  page: PageRequest,
): Promise<readonly RevisionRecord[]> =>
  pageOf(
    store,
    REVISIONS,
    ofDeployment(deploymentId),
    page,
    statuses && (({ status }: RevisionRecord) => statuses.includes(status)),
  )

async function loadAll(store: Store, owner: string | null, ids: readonly string[]) {
  const read = await Promise.all([...new Set(ids)].map((id) => loadDeployment(store, id)))
  return read
    .flatMap((one) => (one && one.record.owner === owner ? [one.record] : []))
    .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
}

async function pageOf<T>(
  store: Store,
  collection: string,
  orderBy: string,
  page: PageRequest,
  fits: ((record: T) => boolean) | undefined,
): Promise<readonly T[]> {
  const query = { orderBy, descending: true }
  const read = (doc: Doc) => recordOf<T>(doc)
  if (!fits) return (await store.list(collection, { ...query, ...page })).docs.map(read)
  return listFitting(recordsOf(read, store, collection, query), fits, page)
}

function matches(deployment: DeploymentRecord, filter: DeploymentFilter): boolean {
  const { name, sourceConfig, agent, imageVersion, status, tagValueIds, source } = deployment
  const same = (wanted: unknown, value: unknown) => wanted === undefined || wanted === value
  return (
    same(filter.name, name) &&
    same(filter.status, status) &&
    same(filter.source, source) &&
    same(filter.imageVersion, imageVersion) &&
    same(filter.deploymentType, sourceConfig.deployment_type ?? 'prod') &&
    same(filter.agentId, agent?.agent_id) &&
    same(filter.agentEnvironment, agent?.environment) &&
    name.toLowerCase().includes((filter.nameContains ?? '').toLowerCase()) &&
    (filter.tagValueIds ?? []).every((id) => tagValueIds.includes(id))
  )
}
