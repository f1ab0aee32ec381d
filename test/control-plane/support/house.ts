import type { Deployer } from '../../../src/control-plane/deployers/deployer.ts'
import { createLogs } from '../../../src/control-plane/logs/create-logs.ts'
import type { Logs } from '../../../src/control-plane/logs/logs.ts'
import { createDeployments, type Deployments } from '../../../src/control-plane/records/create-deployments.ts'
import type { DeploymentRecord, NewRevision } from '../../../src/control-plane/records/records.ts'
import { createUploads } from '../../../src/control-plane/records/uploads/uploads.ts'
import { createSecretBox, type SecretBox } from '../../../src/control-plane/secrets/secret-box.ts'
import type { WorkerTimes } from '../../../src/control-plane/worker/context.ts'
import { createWorker, type Worker } from '../../../src/control-plane/worker/worker.ts'
import { uuid7 } from '../../../src/core/ids.ts'
import { memoryStore, type Store } from '../../../src/storage/index.ts'

const KEY = btoa('k'.repeat(32))

export interface House {
  readonly deployments: Deployments
  readonly worker: Worker
  readonly errors: unknown[]
  readonly secrets: SecretBox
  readonly logs: Logs
}

/** Records and a worker over one store, as a control plane has them. */
export function openHouse(
  deployer: Deployer,
  store: Store = memoryStore(),
  times: Partial<WorkerTimes> = {},
  instance?: string,
): House {
  const errors: unknown[] = []
  const logs = createLogs({ store, onError: (error) => errors.push(error) })
  const secrets = createSecretBox({ key: KEY })
  const worker = createWorker({
    store,
    deployer,
    instance,
    logs,
    uploads: createUploads(store, Date.now),
    secrets,
    opsOf: undefined,
    onError: (error) => errors.push(error),
    now: Date.now,
    times: { retryMs: 20, graceMs: 200, ...times },
  })
  const deployments = createDeployments({
    store,
    wake: worker.wake,
    now: Date.now,
    isHosted: deployer.recover !== undefined,
  })
  return { deployments, worker, errors, logs, secrets }
}

export const REVISION: NewRevision = {
  sourceConfig: { repo_url: 'file:///repository', deployment_type: 'dev' },
  sourceRevisionConfig: { repo_ref: 'main' },
  secrets: [],
  secretReferences: [],
}

export const newDeployment = (name = 'one', given: Partial<DeploymentRecord> = {}): DeploymentRecord => ({
  id: uuid7(),
  owner: null,
  tenantId: '00000000-0000-0000-0000-000000000000',
  name,
  displayName: null,
  agent: null,
  source: 'github',
  sourceConfig: REVISION.sourceConfig,
  sourceRevisionConfig: {},
  secrets: [],
  secretReferences: [],
  status: 'AWAITING_DATABASE',
  latestRevisionId: null,
  activeRevisionId: null,
  pending: [],
  revisionCount: 0,
  retiring: [],
  url: null,
  imageVersion: null,
  tagValueIds: [],
  tracerSessionId: uuid7(),
  createdAt: Date.now(),
  updatedAt: Date.now(),
  ...given,
})
