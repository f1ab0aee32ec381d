export {
  apiKeys,
  bearer,
  type Caller,
  either,
  type VerifyToken,
} from './api/authentication/authentication.ts'
export type { GitIntegration, GitIntegrations, GitRepository } from './context.ts'
export type {
  DeployContext,
  Deployer,
  DeploymentContext,
  DeployRequest,
  FieldRefusal,
  LogLevel,
  PhaseContext,
  Prepared,
  Running,
} from './deployers/deployer.ts'
export { DeployError } from './deployers/deployer.ts'
export { WEBHOOK_EVENT_TYPES, type WebhookEventType } from './events/webhooks/events.ts'
export type { WebhookOptions } from './events/webhooks/webhooks.ts'
export type { TokenVault } from './handler.ts'
export {
  type ControlPlane,
  type ControlPlaneHttpOptions,
  type ControlPlaneOptions,
  createControlPlaneHandler,
  type SecretsOptions,
  type WorkerSettings,
} from './handler.ts'
export type { LogLimits } from './logs/logs.ts'
export type { SecretReference, Source, SourceConfig, SourceRevisionConfig } from './records/records.ts'
export type { UploadLimits } from './records/uploads/uploads.ts'
export type { WorkerTimes } from './worker/context.ts'
