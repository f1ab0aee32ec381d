import { onTestFinished } from 'vitest'
import type { ControlPlaneContext } from '../../src/control-plane/context.ts'
import { createLogs } from '../../src/control-plane/logs/create-logs.ts'
import { createDeployments } from '../../src/control-plane/records/create-deployments.ts'
import type { DeploymentRecord, RevisionRecord } from '../../src/control-plane/records/records.ts'
import {
  DEPLOYMENTS,
  loadDeployment,
  loadRevision,
  type OpsOf,
  ofDeployment,
  partitionOf,
  putDeployment,
  putRevision,
  REVISIONS,
  type StatusEvent,
  statusOp,
} from '../../src/control-plane/records/stored.ts'
import { createUploads } from '../../src/control-plane/records/uploads/uploads.ts'
import { createSecretBox } from '../../src/control-plane/secrets/secret-box.ts'
import type { Store } from '../../src/storage/store/store.ts'

export const ids = (() => {
  let last = 0
  return (): string => `00000000-0000-4000-8000-${String(++last).padStart(12, '0')}`
})()

/** What operations have at hand, over a store. Nothing is deployed. */
export function openContext(store: Store, opsOf?: OpsOf) {
  const closing = new AbortController()
  const logs = createLogs({ store })
  onTestFinished(async () => {
    closing.abort()
    await logs.close()
  })
  const context: ControlPlaneContext = {
    store,
    deployer: { refuses: () => undefined } as unknown as ControlPlaneContext['deployer'],
    deployments: createDeployments({ store, wake() {}, now: Date.now, isHosted: false, opsOf }),
    secrets: createSecretBox({ key: Buffer.alloc(32, 7).toString('base64') }),
    showSecrets: 'masked',
    logs,
    uploads: createUploads(store, Date.now),
    wake() {},
    auth: undefined,
    integrations: undefined,
    onError: (error) => {
      throw error
    },
    closing: closing.signal,
    now: Date.now,
  }
  return { context, logs, close: () => closing.abort(new Error('closed')) }
}

export function newDeployment(owner: string | null = null): DeploymentRecord {
  const at = Date.now()
  return {
    id: ids(),
    owner,
    tenantId: ids(),
    name: `name-${ids()}`,
    displayName: null,
    agent: null,
    source: 'github',
    sourceConfig: {},
    sourceRevisionConfig: {},
    secrets: [],
    secretReferences: [],
    status: 'READY',
    latestRevisionId: null,
    activeRevisionId: null,
    pending: [],
    revisionCount: 0,
    retiring: [],
    url: null,
    imageVersion: null,
    tagValueIds: [],
    tracerSessionId: ids(),
    createdAt: at,
    updatedAt: at,
  }
}

export const newRevision = (id = ids()) => ({
  id,
  sourceConfig: {},
  sourceRevisionConfig: {},
  secrets: [],
  secretReferences: [],
})

const FINAL = /DEPLOYED|FAILED|SKIPPED|INTERRUPTED/

/** Writes a status of a revision as a worker does. */
export async function moveRevision(
  store: Store,
  deploymentId: string,
  revisionId: string,
  status: RevisionRecord['status'],
  opsOf?: OpsOf,
): Promise<void> {
  const { record } = (await loadRevision(store, deploymentId, revisionId))!
  const before = (await loadDeployment(store, deploymentId))!.record
  const pending = before.pending.filter((id) => id !== revisionId || !FINAL.test(status))
  const deployment = { ...before, pending }
  const at = Date.now()
  const event: StatusEvent = { deploymentId, revisionId, status, at }
  const history = [...record.history, { status, at }]
  await store.commit(partitionOf(deploymentId), {
    ops: [
      putDeployment(deployment, false),
      putRevision({ ...record, status, history, updatedAt: at }),
      statusOp([event]),
      ...(opsOf?.(event) ?? []),
    ],
  })
}

/** Removes the records of a deployment, and its log of statuses, in the order in which a worker does it. */
export async function removeRecord(store: Store, id: string): Promise<void> {
  const { docs } = await store.list(REVISIONS, { orderBy: ofDeployment(id) })
  await store.commit(partitionOf(id), {
    ops: docs.map((doc) => ({ op: 'delete', collection: REVISIONS, id: doc.id })),
  })
  await store.commit(partitionOf(id), { ops: [{ op: 'delete', collection: DEPLOYMENTS, id }] })
  await store.trim(partitionOf(id), { keepLast: 0 })
}
