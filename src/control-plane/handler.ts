import { AgentwireError } from '../errors.ts'
import {
  type Authenticate,
  CORS,
  type CorsOptions,
  type LangGraphCors,
  type OnError,
  type WebHandler,
  withCors,
} from '../http/index.ts'
import { checkOptions, type OptionTable, STORAGE_PARTS } from '../options.ts'
import { memoryStore, type Store } from '../storage/index.ts'
import { createApi } from './api/create-api.ts'
import { openVault, type TokenVault } from './auth/token-vault.ts'
import type { ControlPlaneContext } from './context.ts'
import type { Deployer } from './deployers/deployer.ts'
import { createWebhooks, type WebhookOptions } from './events/webhooks/webhooks.ts'
import { createLogs } from './logs/create-logs.ts'
import type { LogLimits } from './logs/logs.ts'
import { authOperations, OPERATIONS } from './operations/all.ts'
import { createDeployments } from './records/create-deployments.ts'
import { createUploads, type UploadLimits } from './records/uploads/uploads.ts'
import { createSecretBox, type SecretBox } from './secrets/secret-box.ts'
import type { GitIntegrations } from './wire/integrations.ts'
import type { WorkerTimes } from './worker/context.ts'
import { createWorker } from './worker/worker.ts'

export interface ControlPlaneOptions {
  /** What builds and starts deployments. It is closed with the handler. */
  readonly deployer: Deployer
  /**
   * Who a request comes from; null is answered with 401: `apiKeys({ … })`, `bearer(…)`, or `either` of them. Default: everybody may deploy
   * everything, and the server says so once.
   */
  readonly authenticate?: Authenticate | undefined
  readonly secrets?: SecretsOptions | undefined
  /**
   * The tokens that users have at other services: `tokenVault({ … })` of `agentwire/control-plane/oauth`. Default: none, and
   * its routes answer 403.
   */
  readonly tokenVault?: TokenVault | undefined
  /** The Git hosts that `/v1/integrations` tells of. Default: none. */
  readonly integrations?: GitIntegrations | undefined
  /** Keeps everything. You close it yourself, after the handler. Default: a `memoryStore()`. */
  readonly store?: Store | undefined
  /** The prefix of every route, such as `/api-host`. The host's own takes precedence. Default: none. */
  readonly basePath?: string | undefined
  readonly http?: ControlPlaneHttpOptions | undefined
  /**
   * Told of what went wrong on our side, with the error id that the client was given. What it throws or rejects with is ignored. Default:
   * `console.error`.
   */
  readonly onError?: OnError | undefined
  /**
   * How this process builds and deploys. `false`: only `reconcile()` does, for hosts without background work and for instances that only
   * answer requests.
   */
  readonly worker?: WorkerSettings | false | undefined
  /** Who is told of each change of a status. */
  readonly webhooks?: readonly WebhookOptions[] | undefined
  /** How much is kept of each log. */
  readonly logs?: LogLimits | undefined
  /** How much is kept of what clients upload. */
  readonly uploads?: UploadLimits | undefined
}

export interface SecretsOptions {
  /**
   * 32 random bytes in base64, the same on every instance: `openssl rand -base64 32`. Of several the first one seals, and all of them open.
   * Secrets are encrypted with it, and upload URLs signed. Default: a random one, only over a store that is not durable.
   */
  readonly key?: string | readonly string[] | undefined
  /**
   * How the values of secrets are answered: as `***`, in clear (which Terraform needs to see whether they have changed), or not at all.
   * Default: `masked`.
   */
  readonly show?: 'masked' | 'plaintext' | 'none' | undefined
}

export interface ControlPlaneHttpOptions {
  /** Larger JSON bodies get 413. Default: 4 MiB. Uploads have a limit of their own. */
  readonly maxBodyBytes?: number | undefined
  /** Which pages of other origins may call it. Default: none. */
  readonly cors?: CorsOptions | LangGraphCors | false | undefined
}

export interface WorkerSettings extends Partial<WorkerTimes> {
  /** How many revisions this process builds at once; an owner that has more than its share keeps no other waiting. Default: 2. */
  readonly builds?: number | undefined
  /** How many servers this process starts again at once, after a restart. Default: 2. */
  readonly starts?: number | undefined
  /**
   * The name of this instance, the same after each restart and never that of two processes at once, such as that of a pod of a StatefulSet.
   * Then a process takes back at its start what the one before held when it was killed. Default: none, and such leases have to expire.
   */
  readonly instance?: string | undefined
}

const SECRETS_OPTIONS: OptionTable<SecretsOptions> = { key: ['string', 'list'], show: 'string' }

const CONTROL_PLANE_HTTP: OptionTable<ControlPlaneHttpOptions> = { maxBodyBytes: 'number', cors: CORS }

const WORKER_SETTINGS: OptionTable<WorkerSettings> = {
  leaseMs: 'number',
  prepareMs: 'number',
  buildMs: 'number',
  deployMs: 'number',
  graceMs: 'number',
  retryMs: 'number',
  builds: 'number',
  starts: 'number',
  instance: 'string',
}

const WEBHOOK: OptionTable<WebhookOptions> = {
  url: ['required', 'string'],
  secret: ['required', 'string', 'list'],
  events: 'list',
  allow: 'list',
}

const LOG_LIMITS: OptionTable<LogLimits> = { maxLines: 'number', maxBytes: 'number', maxLineLength: 'number' }

const UPLOAD_LIMITS: OptionTable<UploadLimits> = {
  deploymentBytes: 'number',
  ownerBytes: 'number',
  keepMs: 'number',
}

const CONTROL_PLANE_OPTIONS: OptionTable<ControlPlaneOptions> = {
  deployer: ['required', 'object'],
  authenticate: 'function',
  secrets: SECRETS_OPTIONS,
  tokenVault: 'object',
  integrations: 'object',
  store: 'store',
  basePath: 'string',
  http: CONTROL_PLANE_HTTP,
  onError: 'function',
  worker: ['false', WORKER_SETTINGS],
  webhooks: { '*': WEBHOOK },
  logs: LOG_LIMITS,
  uploads: UPLOAD_LIMITS,
}

export interface ControlPlane extends WebHandler {
  /** Does all that is due now, and settles when each deployment is at rest: for hosts without background work. */
  readonly reconcile: () => Promise<{ readonly deployments: number }>
}

/**
 * Serves the control plane: deployments, revisions, logs, listeners, integrations and OAuth tokens, with the document of its API at
 * `/openapi.json`. Throws `AgentwireError` `invalid_argument` without `secrets.key` over a durable store.
 */
export function createControlPlaneHandler(options: ControlPlaneOptions): ControlPlane {
  checkOptions('createControlPlaneHandler', options, STORAGE_PARTS, CONTROL_PLANE_OPTIONS)
  const { deployer, authenticate, integrations, store = memoryStore(), onError = logError, http } = options
  if (!authenticate) warnOpen()
  const now = () => Date.now()
  const secrets = secretBoxOf(options.secrets, store)
  const logs = createLogs({ store, limits: options.logs, onError })
  const { builds, starts, instance, ...times } = options.worker || {}
  const webhooks = options.webhooks?.length
    ? // The embedder has chosen the URLs, so they may be of this machine.
      createWebhooks({ store, webhooks: options.webhooks, onError, allowLoopback: true })
    : undefined
  const opsOf = webhooks?.opsOf
  const uploads = createUploads(store, now, options.uploads)
  const worker = createWorker({
    store,
    deployer,
    logs,
    uploads,
    secrets,
    onError,
    now,
    builds,
    starts,
    instance,
    times,
    opsOf,
  })
  const isWorking = options.worker !== false
  const wake = isWorking ? worker.wake : () => {}
  const auth = options.tokenVault && openVault(options.tokenVault, { store, secrets, onError, now })
  const closing = new AbortController()
  const context: ControlPlaneContext = {
    store,
    deployer,
    deployments: createDeployments({ store, wake, now, isHosted: deployer.recover !== undefined, opsOf }),
    secrets,
    showSecrets: options.secrets?.show ?? 'masked',
    logs,
    uploads,
    wake,
    auth,
    integrations,
    onError,
    closing: closing.signal,
    now,
  }
  const api = createApi({
    operations: [...OPERATIONS, ...authOperations],
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
      'createControlPlaneHandler: set secrets.key over a durable store, because nothing could open its secrets after a restart. Make one with `openssl rand -base64 32`, keep it outside the code, and give the same one to every instance.',
    )
  }
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return createSecretBox({ key: btoa(String.fromCharCode(...bytes)) })
}

const logError: OnError = (error, { id }) => console.error(`agentwire: error ${id}`, error)

let warned = false

function warnOpen(): void {
  if (warned) return
  warned = true
  console.warn('agentwire: the control plane has no `authenticate` option: every caller may deploy code.')
}
