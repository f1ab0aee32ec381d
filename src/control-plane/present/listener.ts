import type { ListenerRecord } from '../records/listeners.ts'
import { isoTime } from './time.ts'

export const presentListener = (listener: ListenerRecord) => ({
  id: listener.id,
  version: listener.version,
  compute_type: 'k8s',
  compute_id: listener.compute_id,
  compute_config: { k8s_namespaces: listener.compute_config.k8s_namespaces ?? null },
  created_at: isoTime(listener.createdAt),
  updated_at: isoTime(listener.updatedAt),
})
