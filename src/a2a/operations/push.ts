import { A2AError } from '../errors.ts'
import type { PushConfig } from '../model.ts'
import type { FoundTask } from '../tasks/present.ts'
import type { A2ACall, Operations } from './operations.ts'

const notSupported = (): never => {
  throw new A2AError('push_notification_not_supported', 'This server sends no push notifications.')
}

export const checkPush = (_call: A2ACall, _config: PushConfig): void => notSupported()
export const savePush = async (_call: A2ACall, _found: FoundTask, _config: PushConfig): Promise<void> =>
  notSupported()

export const push: Pick<Operations, 'setPush' | 'getPush' | 'listPush' | 'deletePush'> = {
  setPush: async () => notSupported(),
  getPush: async () => notSupported(),
  listPush: async () => notSupported(),
  deletePush: async () => notSupported(),
}
