import type { Doc, ListQuery, Store } from '../../storage/index.ts'
import type { DeploymentFilter, PageRequest } from './deployments.ts'
import type { DeploymentRecord, RevisionRecord, RevisionStatus } from './records.ts'
import { DEPLOYMENTS, loadDeployment, ofDeployment, ofOwner, REVISIONS, recordOf } from './stored.ts'

/** How many records are read at once where a filter leaves some of them out. */
const SCANNED = 200

/** The owner's deployments, newest first. */
export async function listDeployments(
  store: Store,
  owner: string | null,
  filter: DeploymentFilter,
  page: PageRequest,
): Promise<readonly DeploymentRecord[]> {
  const { ids } = filter
  const fits = (deployment: DeploymentRecord) => matches(deployment, filter)
  if (ids) return (await loadAll(store, owner, ids)).filter(fits).slice(page.offset, page.offset + page.limit)
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return pageOf(store, DEPLOYMENTS, ofOwner(owner), page, isFiltered ? fits : undefined)
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
    .flatMap((one) => (one?.record.owner === owner ? [one.record] : []))
    .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
}

async function pageOf<T>(
  store: Store,
  collection: string,
  orderBy: string,
  { limit, offset }: PageRequest,
  fits: ((record: T) => boolean) | undefined,
): Promise<readonly T[]> {
  const query: ListQuery = { orderBy, descending: true }
  const read = (doc: Doc) => recordOf<T>(doc)
  if (!fits) return (await store.list(collection, { ...query, limit, offset })).docs.map(read)
  const found: T[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await store.list(collection, {
      ...query,
      limit: SCANNED,
      ...(cursor !== undefined && { cursor }),
    })
    found.push(...page.docs.map(read).filter(fits))
    cursor = page.cursor
    if (found.length >= offset + limit || cursor === undefined) return found.slice(offset, offset + limit)
  }
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
