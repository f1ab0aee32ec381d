import type { Operation } from '../api/operation.ts'
import { createConnection, deleteConnection, listConnections } from './auth/connections.ts'
import { authenticate, callback, postCallback, setup, wait } from './auth/flows.ts'
import {
  createProvider,
  deleteProvider,
  discoverProvider,
  getPlatformProvider,
  getProvider,
  listPlatformProviders,
  listProviders,
  patchProvider,
} from './auth/providers.ts'
import {
  deleteSlack,
  deleteToken,
  deleteTokens,
  importToken,
  listTokenEvents,
  listTokens,
  patchToken,
  slackExists,
  tokenExists,
  tokensExist,
} from './auth/tokens.ts'

/** The auth service, and the connections of agents to its tokens. */
export const authOperations: readonly Operation[] = [
  listProviders,
  createProvider,
  discoverProvider,
  getProvider,
  patchProvider,
  deleteProvider,
  listPlatformProviders,
  getPlatformProvider,
  authenticate,
  wait,
  callback,
  postCallback,
  setup,
  listTokens,
  deleteTokens,
  patchToken,
  deleteToken,
  tokenExists,
  tokensExist,
  importToken,
  listTokenEvents,
  slackExists,
  deleteSlack,
  listConnections,
  createConnection,
  deleteConnection,
]
