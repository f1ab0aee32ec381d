export { adapterProbe } from './adapter/probe.ts'
export type {
  AdapterCapability,
  AdapterTarget,
  RawSocket,
  StartedTarget,
  StartOptions,
} from './adapter/target.ts'
export { adapterAudits } from './adapter.ts'
export type { Audit } from './check.ts'
export { AuditError } from './check.ts'
export {
  type CheckpointerAuditOptions,
  type CheckpointerUnderAudit,
  checkpointerAudits,
} from './checkpointer.ts'
export type { GraphStoreIndex } from './graph-store/rule.ts'
export { type GraphStoreAuditOptions, graphStoreAudits } from './graph-store.ts'
export type { AuditedAgents } from './server/context.ts'
export type { AuditLevel } from './server/rule.ts'
export type { AuditedSocket, AuditedSocketEvent, WebSocketFactory } from './server/socket.ts'
export {
  type AuditResult,
  type RunServerAuditsOptions,
  runServerAudits,
  type ServerAudit,
  type ServerAuditOptions,
  serverAudits,
} from './server.ts'
export { type StoreAuditOptions, storeAudits } from './store.ts'
