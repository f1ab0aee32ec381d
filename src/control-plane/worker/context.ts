import type { OnError } from '../../core/http/index.ts'
import type { KeyedSemaphore } from '../../storage/coordination/keyed-semaphore.ts'
import type { Store } from '../../storage/index.ts'
import {
  DeployError,
  type Deployer,
  type DeploymentContext,
  type LogLevel,
  type PhaseContext,
} from '../deployers/deployer.ts'
import type { LogPlace, Logs } from '../logs/logs.ts'
import type { DeploymentRecord, RevisionRecord } from '../records/records.ts'
import type { OpsOf } from '../records/stored.ts'
import { partitionOf } from '../records/stored.ts'
import { uploadOfPath } from '../records/uploads/stored.ts'
import type { Uploads } from '../records/uploads/uploads.ts'
import { maskSecrets } from '../secrets/mask.ts'
import type { SecretBox } from '../secrets/secret-box.ts'

export interface WorkerTimes {
  /** How long a process that stopped responding keeps its deployments, in milliseconds. Default 15,000. */
  readonly leaseMs: number
  /** How long each phase may take, in milliseconds. Defaults: 10 minutes, 30 minutes, 15 minutes. */
  readonly prepareMs: number
  readonly buildMs: number
  readonly deployMs: number
  /** How long a phase may take to stop, in milliseconds. Default 15,000. */
  readonly graceMs: number
  /**
   * The delay before a failed server is started again, or a removal is retried, in milliseconds. It doubles
   * with each further failure. Default 1,000.
   */
  readonly retryMs: number
}

export interface WorkerContext {
  readonly store: Store
  readonly deployer: Deployer
  readonly logs: Logs
  readonly uploads: Uploads
  readonly secrets: SecretBox
  readonly times: WorkerTimes
  readonly builds: KeyedSemaphore<string | null>
  /** Slots for starting servers again, by owner. */
  readonly starts: KeyedSemaphore<string | null>
  readonly onError: OnError
  /** This worker's name. After a restart it may take back the leases of its earlier process. */
  readonly instance: string
  readonly isHosted: boolean
  readonly opsOf: OpsOf | undefined
  readonly now: () => number
  /** Aborts when the worker closes. The worker then no longer waits for an unavailable store. */
  readonly closing: AbortSignal
}

/** A deployer's context of a deployment. Its lines go to the server log. */
export function deploymentContext(
  { logs, now }: Pick<WorkerContext, 'logs' | 'now'>,
  { id: deploymentId, name, owner, activeRevisionId }: DeploymentRecord,
  signal: AbortSignal,
): DeploymentContext {
  const revisionId = activeRevisionId ?? ''
  const log = createLineLog(logs, { type: 'deploy', deploymentId }, { revisionId, mask: (text) => text, now })
  return { deploymentId, name, owner, signal, log }
}

/** A deployer's context of a revision, with its secrets in plain text. They are masked in the log. */
export async function phaseContext(
  { logs, uploads, now, secrets: box }: Pick<WorkerContext, 'logs' | 'uploads' | 'now' | 'secrets'>,
  { id: deploymentId, name, owner }: DeploymentRecord,
  revision: RevisionRecord,
  signal: AbortSignal,
  type: 'build' | 'deploy',
): Promise<PhaseContext> {
  const { id: revisionId, number, source, sourceConfig, sourceRevisionConfig, secretReferences } = revision
  const opened = await box.open(partitionOf(deploymentId), revision.secrets).catch((cause: unknown) => {
    throw new DeployError('A secret cannot be decrypted with the keys of this server.', { cause })
  })
  const mask = maskSecrets(opened.map(({ value }) => value))
  const logged = type === 'build' ? { type, deploymentId, revisionId } : { type, deploymentId }
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
      const upload = uploadOfPath(path, deploymentId)
      return upload && uploads.open(upload)
    },
    signal,
    log: createLineLog(logs, logged, { revisionId, mask, now }),
  }
}

interface LineLogOptions {
  /** The revision of the lines. */
  readonly revisionId: string
  /** Masks the values of secrets: see `maskSecrets`. */
  readonly mask: (text: string) => string
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** The run that a line names, as servers write it in JSON or as `run_id=…`. */
const RUN_ID = /run_?id\W{1,4}([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})/i

/** A deployer's `log`. It masks secrets before anything is stored, and splits text into lines. */
export function createLineLog(
  logs: Logs,
  place: LogPlace,
  { revisionId, mask, now }: LineLogOptions,
): (text: string, level?: LogLevel) => void {
  return (text, level = 'INFO') => {
    const at = now()
    const lines = mask(text)
      .replace(/\r?\n$/, '')
      .split(/\r?\n/)
    for (const message of lines)
      logs.append(place, { at, level, message, revisionId, runId: RUN_ID.exec(message)?.[1] })
  }
}
