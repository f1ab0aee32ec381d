import type { OnError } from '../../http/index.ts'
import type { KeyedSemaphore } from '../../storage/coordination/keyed-semaphore.ts'
import type { Deployer, DeploymentContext, PhaseContext } from '../deployers/deployer.ts'
import { DeployError } from '../deployers/errors.ts'
import { createLineLog } from '../logs/line-log.ts'
import type { Logs } from '../logs/logs.ts'
import type { DeploymentRecord, RevisionRecord } from '../records/records.ts'
import { partitionOf } from '../records/stored.ts'
import { placeOf } from '../records/uploads/place.ts'
import type { Uploads } from '../records/uploads/uploads.ts'
import { maskSecrets } from '../secrets/mask.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import type { LeaseContext } from './lease.ts'

export interface WorkerTimes {
  /** How long a process that stopped responding keeps its deployments, in milliseconds. Default 15,000. */
  readonly leaseMs: number
  /** How long each phase may take, in milliseconds. Defaults: 10 minutes, 30 minutes, 15 minutes. */
  readonly prepareMs: number
  readonly buildMs: number
  readonly deployMs: number
  /** How long a phase may go on after it was told to stop, in milliseconds. Default 15,000. */
  readonly graceMs: number
  /** How long after a failure a server is started again, or a removal is tried again, in milliseconds; then twice as long. Default 1,000. */
  readonly retryMs: number
}

export interface WorkerContext extends LeaseContext {
  readonly deployer: Deployer
  readonly logs: Logs
  readonly uploads: Uploads
  readonly secrets: SecretBox
  readonly times: WorkerTimes
  /** Slots to build in. */
  readonly builds: KeyedSemaphore<string | null>
  /** Slots to start servers again in. */
  readonly starts: KeyedSemaphore<string | null>
  readonly onError: OnError
  readonly now: () => number
  /** Aborts when the worker closes. */
  readonly closing: AbortSignal
}

/** What a deployer is told of a deployment. Lines go to the log of its servers. */
export function deploymentContext(
  { logs, now }: Pick<WorkerContext, 'logs' | 'now'>,
  { id, name, owner, activeRevisionId }: DeploymentRecord,
  signal: AbortSignal,
): DeploymentContext {
  return {
    deploymentId: id,
    name,
    owner,
    signal,
    log: createLineLog(
      logs,
      { type: 'deploy', deploymentId: id },
      { revisionId: activeRevisionId ?? '', mask: (text) => text, now },
    ),
  }
}

/** What a deployer is told of a revision, with its secrets in clear. Their values are masked in what it logs. */
export async function phaseContext(
  { logs, uploads, now, secrets: box }: Pick<WorkerContext, 'logs' | 'uploads' | 'now' | 'secrets'>,
  { id: deploymentId, name, owner }: DeploymentRecord,
  revision: RevisionRecord,
  signal: AbortSignal,
  type: 'build' | 'deploy',
): Promise<PhaseContext> {
  const { id: revisionId, number, source, sourceConfig, sourceRevisionConfig, secretReferences } = revision
  const opened = await box.open(partitionOf(deploymentId), revision.secrets).catch((cause: unknown) => {
    throw new DeployError('A secret cannot be opened with the keys that this server has.', { cause })
  })
  const mask = maskSecrets(opened.map(({ value }) => value))
  const place = type === 'build' ? { type, deploymentId, revisionId } : { type, deploymentId }
  return {
    deploymentId,
    revisionId,
    revisionNumber: number,
    name,
    owner,
    source,
    sourceConfig,
    sourceRevisionConfig,
    secretReferences,
    secrets: Object.fromEntries(opened.map(({ name, value }) => [name, value])),
    openUpload: async (path) => {
      const place = placeOf(path, deploymentId)
      return place && uploads.open(place)
    },
    signal,
    log: createLineLog(logs, place, { revisionId, mask, now }),
  }
}
