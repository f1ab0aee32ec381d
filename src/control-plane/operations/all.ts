import type { Operation } from '../api/operation.ts'
import { deleteDeployment, deleteDeployments } from './deployments/delete.ts'
import {
  countFree,
  createDeployment,
  getDeployment,
  listDeployments,
  patchDeployment,
} from './deployments/deployments.ts'
import {
  createRevision,
  getRevision,
  interruptionOfRevision,
  interruptRevision,
  listRevisions,
  redeployRevision,
} from './deployments/revisions.ts'
import { setDeploymentTier, setResourceTiers } from './deployments/tiers.ts'
import { createPushToken, createUploadUrl, putUpload } from './deployments/uploads.ts'
import { streamEvents } from './events.ts'
import {
  listForgeIntegrations,
  listForgeRepositories,
  listIntegrations,
  listRepositories,
} from './integrations.ts'
import { createListener, deleteListener, getListener, listListeners, patchListener } from './listeners.ts'
import { deploymentLogs, listDeploymentLogs, revisionLogs } from './logs/logs.ts'
import { buildLogs, deployLogs, revisionDeployLogs } from './logs/project-logs.ts'

/** Every operation but those of the auth service, in the order of the document. */
export const OPERATIONS: readonly Operation[] = [
  listDeployments,
  createDeployment,
  deleteDeployments,
  countFree,
  getDeployment,
  patchDeployment,
  deleteDeployment,
  listRevisions,
  createRevision,
  getRevision,
  redeployRevision,
  interruptRevision,
  interruptionOfRevision,
  revisionLogs,
  deploymentLogs,
  listDeploymentLogs,
  streamEvents,
  setResourceTiers,
  setDeploymentTier,
  createPushToken,
  createUploadUrl,
  putUpload,
  listListeners,
  createListener,
  getListener,
  patchListener,
  deleteListener,
  listIntegrations,
  listRepositories,
  listForgeIntegrations,
  listForgeRepositories,
  buildLogs,
  revisionDeployLogs,
  deployLogs,
]
