import { toBase64 } from '../core/bytes.ts'
import { AgentwireError, logError } from '../core/errors.ts'
import {
  type Authenticate,
  CORS,
  type CorsOptions,
  type LangGraphCors,
  type OnError,
  type WebHandler,
  withCors,
} from '../core/http/index.ts'
import { checkOptions, type OptionTable, STORAGE_PARTS } from '../core/options.ts'
import type { Store } from '../storage/index.ts'
import { memoryOnDemand } from '../storage/memory/on-demand.ts'
import { createApi } from './api/create-api.ts'
import type { AuthService } from './auth/methods.ts'
import type { AuthServiceParts } from './auth/service.ts'
import type { ControlPlaneContext, GitIntegrations } from './context.ts'
import type { Deployer } from './deployers/deployer.ts'
import { createWebhooks, type WebhookOptions } from './events/webhooks/webhooks.ts'
import { createLogs } from './logs/create-logs.ts'
import type { LogLimits } from './logs/logs.ts'
import { createDeployments } from './records/create-deployments.ts'
import { createUploads, type UploadLimits } from './records/uploads/uploads.ts'
import { createSecretBox, type SecretBox } from './secrets/secret-box.ts'
import type { WorkerTimes } from './worker/context.ts'
import { createWorker } from './worker/worker.ts'

export interface ControlPlaneOptions {
  /** Builds and starts deployments. It is closed with the handler. */
  readonly deployer: Deployer
  /**
   * Authenticates a request, or returns null for a 401: `apiKeys({ … })`, `bearer(…)`, or `either` of them.
   * Default: anyone can deploy anything, with a warning.
   */
  readonly authenticate?: Authenticate | undefined
  readonly secrets?: SecretsOptions | undefined
  /**
   * Users' tokens for other services: `tokenVault({ … })` of `agentwire/control-plane/oauth`. Default: none
   * (403).
   */
  readonly tokenVault?: TokenVault | undefined
  /** The Git hosts that `/v1/integrations` lists. Default: none. */
  readonly integrations?: GitIntegrations | undefined
  /** Stores everything. Close it after the handler. Default: a `memoryStore()`. */
  readonly store?: Store | undefined
  /**
   * The prefix of every route, such as `/api-host`. The host's own prefix takes precedence. Default: none.
   */
  readonly basePath?: string | undefined
  readonly http?: ControlPlaneHttpOptions | undefined
  /**
   * Called for server errors, with the error id that the client received. Errors that it throws are ignored.
   * Default: `console.error`.
   */
  readonly onError?: OnError | undefined
  /**
   * How this process builds and deploys. `false`: only in `reconcile()`, for hosts without background work
   * and for instances that only serve requests.
   */
  readonly worker?: WorkerSettings | false | undefined
  /** The endpoints that receive status changes. */
  readonly webhooks?: readonly WebhookOptions[] | undefined
  /** Limits for each log. */
  readonly logs?: LogLimits | undefined
  /** Limits for uploads. */
  readonly uploads?: UploadLimits | undefined
}

export interface SecretsOptions {
  /**
   * 32 random bytes in base64, the same on every instance: `openssl rand -base64 32`. They encrypt secrets
   * and sign upload URLs. With several keys, the first one encrypts and all decrypt. Default: random, if the
   * store is not durable.
   */
  readonly key?: string | readonly string[] | undefined
  /**
   * How responses show the values of secrets: as `***`, in plain text (so that Terraform can detect changes),
   * or not at all. Default: `masked`.
   */
  readonly show?: 'masked' | 'plaintext' | 'none' | undefined
}

export interface ControlPlaneHttpOptions {
  /** Larger JSON bodies get 413. Default: 4 MiB. Uploads have their own limit. */
  readonly maxBodyBytes?: number | undefined
  /** The pages of other origins that may call it. Default: none. */
  readonly cors?: CorsOptions | LangGraphCors | false | undefined
}

export interface WorkerSettings extends Partial<WorkerTimes> {
  /** The maximum number of revisions that this process builds at once. Owners get fair shares. Default: 2. */
  readonly builds?: number | undefined
  /** The maximum number of servers that this process starts at once after a restart. Default: 2. */
  readonly starts?: number | undefined
  /**
   * This instance's name: unique, and the same after each restart, such as the name of a StatefulSet pod.
   * With it, a process takes back the leases of its killed predecessor at its start. Default: none, so such
   * leases have to expire first.
   */
  readonly instance?: string | undefined
}

const OPTIONS: OptionTable<ControlPlaneOptions> = {
  deployer: ['required', 'object'],
  authenticate: 'function',
  secrets: { key: ['string', 'list'], show: 'string' } satisfies OptionTable<SecretsOptions>,
  tokenVault: 'object',
  integrations: 'object',
  store: 'store',
  basePath: 'string',
  http: { maxBodyBytes: 'number', cors: CORS } satisfies OptionTable<ControlPlaneHttpOptions>,
  onError: 'function',
  worker: [
    'false',
    {
      leaseMs: 'number',
      prepareMs: 'number',
      buildMs: 'number',
      deployMs: 'number',
      graceMs: 'number',
      retryMs: 'number',
      builds: 'number',
      starts: 'number',
      instance: 'string',
    } satisfies OptionTable<WorkerSettings>,
  ],
  webhooks: {
    '*': {
      url: ['required', 'string'],
      secret: ['required', 'string', 'list'],
      events: 'list',
      allow: 'list',
    } satisfies OptionTable<WebhookOptions>,
  },
  logs: { maxLines: 'number', maxBytes: 'number', maxLineLength: 'number' } satisfies OptionTable<LogLimits>,
  uploads: {
    deploymentBytes: 'number',
    ownerBytes: 'number',
    keepMs: 'number',
  } satisfies OptionTable<UploadLimits>,
}

export interface ControlPlane extends WebHandler {
  /**
   * For hosts without background work: does everything that is due, and resolves when all deployments are
   * idle.
   */
  readonly reconcile: () => Promise<{ readonly deployments: number }>
}

/**
 * Serves the control plane: deployments, revisions, logs, listeners, integrations and OAuth tokens, with its
 * OpenAPI document at `/openapi.json`. Throws `AgentwireError` `invalid_argument` for a durable store without
 * `secrets.key`.
 */
export function createControlPlaneHandler(options: ControlPlaneOptions): ControlPlane {
  checkOptions('createControlPlaneHandler', options, STORAGE_PARTS, OPTIONS)
  const {
    deployer,
    authenticate,
    integrations,
    store = memoryOnDemand().store,
    onError = logError,
    http,
  } = options
  if (!authenticate) warnOpen()
  const now = () => Date.now()
  const secrets = secretBoxOf(options.secrets, store)
  const logs = createLogs({ store, limits: options.logs, onError })
  const webhooks = options.webhooks?.length
    ? // The embedder has chosen the URLs, so they may be on this machine.
      createWebhooks({ store, webhooks: options.webhooks, onError, allowLoopback: true })
    : undefined
  const opsOf = webhooks?.opsOf
  const uploads = createUploads(store, now, options.uploads)
  const shared = { store, deployer, logs, uploads, secrets, onError, now }
  const { builds, starts, instance, ...times } = options.worker || {}
  const worker = createWorker({ ...shared, builds, starts, instance, times, opsOf })
  const isWorking = options.worker !== false
  const wake = isWorking ? worker.wake : () => {}
  const auth = options.tokenVault && openVault(options.tokenVault, { store, secrets, onError, now })
  const closing = new AbortController()
  const context: ControlPlaneContext = {
    ...shared,
    deployments: createDeployments({ store, wake, now, isHosted: deployer.recover !== undefined, opsOf }),
    showSecrets: options.secrets?.show ?? 'masked',
    wake,
    auth,
    integrations,
    closing: closing.signal,
  }
  const api = createApi({
    operations: {
      below: ['/v1/integrations', '/v1/projects', '/v2'],
      async load() {
        const { authOperations, OPERATIONS } = await import('./operations/all.ts')
        return [...OPERATIONS, ...authOperations]
      },
    },
    context,
    authenticate,
    basePath: options.basePath,
    maxBodyBytes: http?.maxBodyBytes,
    async onClose() {
      closing.abort()
      await auth?.close()
      await worker.close()
      await webhooks?.close()
      await logs.close()
    },
  })
  if (isWorking) worker.start()
  return { ...withCors(api, http?.cors), reconcile: worker.reconcile }
}

function secretBoxOf({ key }: SecretsOptions = {}, store: Store): SecretBox {
  if (key !== undefined) return createSecretBox({ key })
  if (store.capabilities.durable) {
    throw new AgentwireError(
      'invalid_argument',
      'createControlPlaneHandler: a durable store requires secrets.key, because otherwise nothing could decrypt its secrets after a restart. Generate one with `openssl rand -base64 32`, keep it out of the code, and use the same key in every instance.',
    )
  }
  return createSecretBox({ key: toBase64(crypto.getRandomValues(new Uint8Array(32))) })
}

let warned = false

function warnOpen(): void {
  if (warned) return
  warned = true
  console.warn(
    'agentwire: the control plane has no `authenticate` option: anyone who can reach it can deploy code.',
  )
}

/** Created by `tokenVault` of `agentwire/control-plane/oauth`. */
export interface TokenVault {
  /** @internal */
  readonly open: unknown
}

/** Opens a vault's auth service. Its types are derived from the API schemas, so they are internal. */
export const openVault = (vault: TokenVault, parts: AuthServiceParts): AuthService =>
  (vault.open as (parts: AuthServiceParts) => AuthService)(parts)
