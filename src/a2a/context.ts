import type { NamedAssistant } from '../face/assistants.ts'
import type { FaceContext } from '../face/routes.ts'
import type { Authenticate } from '../http/index.ts'
import type { CardSettings } from './card/options.ts'
import type { A2AOptions } from './options.ts'
import type { A2APushOptions } from './push/pushes.ts'

/** What every endpoint of this group needs. */
export interface A2AContext extends FaceContext {
  readonly options: A2AOptions
  /** Undefined where every caller is let in. */
  readonly authenticate: Authenticate | undefined
  /** Undefined where the server sends no push notifications. */
  readonly push: A2APushOptions | undefined
  /** What the cards of its assistants are made of. */
  readonly card: CardSettings
  /** The assistant that the path names by its id. Absent where it names a graph. */
  readonly assistant?: NamedAssistant['assistant']
}
