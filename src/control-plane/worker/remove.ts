import type { Op } from '../../storage/index.ts'
import { releaseNames } from '../records/names.ts'
import type { RevisionRecord } from '../records/records.ts'
import { DEPLOYMENTS, ofDeployment, partitionOf, REVISIONS, recordOf } from '../records/stored.ts'
import { deploymentContext } from './context.ts'
import type { Lease } from './lease.ts'
import { settled } from './supervise.ts'

/** Revisions deleted per commit. */
const PAGE = 200

/**
 * Stops a deployment's servers, removes what they left, and deletes its records. Each step may run again
 * after a crash: the deployment record exists until the last one.
 */
export async function removeDeployment(lease: Lease): Promise<void> {
  const { context } = lease
  const { deployer, store, logs, uploads, now, opsOf, closing } = context
  const { record: deployment } = (await lease.load())!
  const { id } = deployment
  const signal = AbortSignal.any([lease.signal, closing])
  const given = deploymentContext(context, deployment, signal)
  if (deployment.status === 'AWAITING_DELETE') {
    const active = deployment.activeRevisionId
    const serving = active === null ? undefined : (await lease.loadRevision(active))?.running
    for (const server of [...(serving ? [serving] : []), ...deployment.retiring])
      await settled(context, signal, deployer.stop({ url: server.url, handle: server.handle }, given))
    await lease.change(() => ({
      status: 'AWAITING_FINAL_DELETE',
      retiring: [],
      url: null,
      updatedAt: now(),
    }))
  }
  await settled(context, signal, deployer.destroy(given))
  for (;;) {
    const { docs } = await store.list(REVISIONS, { orderBy: ofDeployment(id), limit: PAGE })
    if (docs.length === 0) break
    for (const doc of docs)
      await logs.remove({ type: 'build', deploymentId: id, revisionId: recordOf<RevisionRecord>(doc).id })
    await lease.commit(docs.map((doc): Op => ({ op: 'delete', collection: REVISIONS, id: doc.id })))
  }
  await logs.remove({ type: 'deploy', deploymentId: id })
  await uploads.removeAll(id)
  await releaseNames(store, deployment)
  const removed: Op = { op: 'delete', collection: DEPLOYMENTS, id }
  await lease.commit([removed, ...(opsOf?.({ deploymentId: id, status: 'DELETED', at: now() }) ?? [])])
  await store.trim(partitionOf(id), { keepLast: 0 })
}
