import type { Operation } from '../api/route.ts'
import { flowOperations } from './auth/flows.ts'
import { providerOperations } from './auth/providers.ts'
import { connectionOperations, tokenOperations } from './auth/tokens.ts'
import { deploymentOperations, tierOperations } from './deployments/deployments.ts'
import { revisionOperations } from './deployments/revisions.ts'
import { uploadOperations } from './deployments/uploads.ts'
import { streamEvents } from './events.ts'
import { integrationOperations } from './integrations.ts'
import { listenerOperations } from './listeners.ts'
import { logOperations, projectLogOperations } from './logs/logs.ts'

/** All operations except those of the auth service, in document order. */
export const OPERATIONS: readonly Operation[] = [
  ...deploymentOperations,
  ...revisionOperations,
  ...logOperations,
  streamEvents,
  ...tierOperations,
  ...uploadOperations,
  ...listenerOperations,
  ...integrationOperations,
  ...projectLogOperations,
]

/** The auth service, and agents' connections to its tokens. */
export const authOperations: readonly Operation[] = [
  ...providerOperations,
  ...flowOperations,
  ...tokenOperations,
  ...connectionOperations,
]
