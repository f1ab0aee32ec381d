import { isLeaving } from '../records/create-deployments.ts'
import type { DeploymentRecord, RevisionRecord, RevisionStatus } from '../records/records.ts'

export interface View {
  readonly deployment: DeploymentRecord
  /** The oldest revision that is not final. */
  readonly revision: RevisionRecord | undefined
  /** Whether its server has to be started again after a restart. */
  readonly isDown: boolean
  /** Whether the deployer has the phase `build`. */
  readonly hasBuild: boolean
}

export type Step =
  | { readonly do: 'remove' | 'ready' | 'recover' | 'rest' }
  | { readonly do: 'end'; readonly revision: RevisionRecord; readonly end: End }
  | { readonly do: 'phase'; readonly phase: Phase; readonly revision: RevisionRecord }

/** The final status of a revision that was not deployed, and the reason. */
export interface End {
  readonly status: RevisionStatus
  readonly reason: string
}

/**
 * The state machine. The newest revision wins, stopped work ends first, and the server is started again
 * before anything new is built.
 */
export function nextStep({ deployment, revision, isDown, hasBuild }: View): Step {
  if (isLeaving(deployment)) return { do: 'remove' }
  if (deployment.status === 'AWAITING_DATABASE') return { do: 'ready' }
  const end = revision && endOf(deployment, revision)
  if (end) return { do: 'end', revision, end }
  if (isDown) return { do: 'recover' }
  return revision ? { do: 'phase', phase: phaseOf(revision, hasBuild), revision } : { do: 'rest' }
}

/** Why a revision has to stop, if it has to. */
export function endOf(deployment: DeploymentRecord, revision: RevisionRecord): End | undefined {
  if (isLeaving(deployment)) return { status: 'INTERRUPTED', reason: 'The deployment is being deleted.' }
  if (revision.isInterrupted) return { status: 'INTERRUPTED', reason: 'It was interrupted by a request.' }
  if (deployment.latestRevisionId === revision.id) return undefined
  return { status: 'SKIPPED', reason: 'It was superseded by a newer revision.' }
}

function phaseOf({ status, artifact }: RevisionRecord, hasBuild: boolean): Phase {
  if (artifact !== undefined) return 'deploy'
  if (status === 'CREATING') return 'prepare'
  return hasBuild && (status === 'AWAITING_BUILD' || status === 'BUILDING') ? 'build' : 'deploy'
}

/** The statuses that a revision passes through until a phase starts, and its failure status. */
export const PHASES = {
  prepare: { path: ['CREATING'], begins: 'CREATING', fails: 'CREATE_FAILED' },
  build: {
    path: ['CREATING', 'QUEUED', 'AWAITING_BUILD', 'BUILDING'],
    begins: 'BUILDING',
    fails: 'BUILD_FAILED',
  },
  deploy: {
    path: ['CREATING', 'QUEUED', 'AWAITING_DEPLOY', 'DEPLOYING'],
    begins: 'DEPLOYING',
    fails: 'DEPLOY_FAILED',
  },
} as const satisfies Readonly<
  Record<string, { path: readonly RevisionStatus[]; begins: RevisionStatus; fails: RevisionStatus }>
>

export type Phase = keyof typeof PHASES

/** The statuses that a revision passes through before a phase. The last one is the phase's. */
export function statusesBefore(phase: Phase, status: RevisionStatus): readonly RevisionStatus[] {
  const path: readonly RevisionStatus[] = PHASES[phase].path
  const at = path.indexOf(status)
  // A revision that has its build already is not on the path to `deploy`.
  return at < 0 ? path.slice(-2) : path.slice(at + 1)
}
