import { isLeaving } from '../records/create-deployments.ts'
import type { DeploymentRecord, RevisionRecord, RevisionStatus } from '../records/records.ts'

export type Phase = 'prepare' | 'build' | 'deploy'

/** What a worker knows of a deployment when it decides. */
export interface View {
  readonly deployment: DeploymentRecord
  /** The oldest revision that is not final. */
  readonly revision: RevisionRecord | undefined
  /** Whether what serves it has to be started again, after a restart. */
  readonly isDown: boolean
  /** Which phases the deployer has. */
  readonly hasBuild: boolean
}

/** The next thing to do for a deployment. */
export type Step =
  | { readonly do: 'remove' }
  | { readonly do: 'ready' }
  | { readonly do: 'end'; readonly revision: RevisionRecord; readonly end: End }
  | { readonly do: 'recover' }
  | { readonly do: 'phase'; readonly phase: Phase; readonly revision: RevisionRecord }
  | { readonly do: 'rest' }

/** How a revision ends that was not deployed, and why. */
export interface End {
  readonly status: RevisionStatus
  readonly reason: string
}

/**
 * The heart of the state machine: the newest revision wins, whatever was stopped ends first, and what serves is brought back before
 * anything new is built.
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
  return { status: 'SKIPPED', reason: 'A newer revision overtook it.' }
}

function phaseOf({ status, artifact }: RevisionRecord, hasBuild: boolean): Phase {
  if (artifact !== undefined) return 'deploy'
  if (status === 'CREATING') return 'prepare'
  return hasBuild && (status === 'AWAITING_BUILD' || status === 'BUILDING') ? 'build' : 'deploy'
}

/** The statuses of a phase: those it begins with, those it ends with, and how it fails. */
export const PHASES = {
  prepare: { begins: 'CREATING', fails: 'CREATE_FAILED' },
  build: { begins: 'BUILDING', fails: 'BUILD_FAILED' },
  deploy: { begins: 'DEPLOYING', fails: 'DEPLOY_FAILED' },
} as const satisfies Readonly<Record<Phase, { begins: RevisionStatus; fails: RevisionStatus }>>

/** What a revision passes through before a phase begins: the last one is that of the phase. */
export function statusesBefore(phase: Phase, status: RevisionStatus): readonly RevisionStatus[] {
  const path: readonly RevisionStatus[] =
    phase === 'build'
      ? ['CREATING', 'QUEUED', 'AWAITING_BUILD', 'BUILDING']
      : phase === 'deploy'
        ? ['CREATING', 'QUEUED', 'AWAITING_DEPLOY', 'DEPLOYING']
        : ['CREATING']
  const at = path.indexOf(status)
  // A revision that comes from its build is beside this path.
  return at < 0 ? path.slice(-2) : path.slice(at + 1)
}
