import type { Authenticate } from '../../core/http/index.ts'
import type { NamedAssistant } from '../kit/assistants.ts'
import type { FaceContext } from '../kit/routes.ts'
import type { CardSettings } from './card/options.ts'
import type { A2AOptions } from './options.ts'
import type { A2APushOptions } from './push/pushes.ts'

/** The context of every endpoint in this group. */
export interface A2AContext extends FaceContext {
  readonly options: A2AOptions
  /** Undefined if all callers are accepted. */
  readonly authenticate: Authenticate | undefined
  /** Undefined if the server sends no push notifications. */
  readonly push: A2APushOptions | undefined
  /** The settings of its assistants' cards. */
  readonly card: CardSettings
  /** The assistant whose id is in the path. Absent if the path names a graph. */
  readonly assistant?: NamedAssistant['assistant']
}
