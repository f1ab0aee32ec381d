import type { OptionTable } from '../../core/options.ts'
import type { FaceContext } from '../kit/routes.ts'

export interface AgUiOptions {
  /** The path prefix, such as `/api` for `/api/ag-ui/…`. Default: none. */
  readonly basePath?: string | undefined
  /**
   * Whether clients receive subagent activity: `SUBAGENT_*` events and each subagent's text and calls.
   * Clients before 0.0.58 fail on these events: set it to false for them, and subagent activity is left out.
   * Default: true.
   */
  readonly subagents?: boolean | undefined
  /**
   * The state keys that a client may write with its page's state. A key is written if its value differs from
   * the thread's. Default: true, which means every key of the agent's input except `messages`.
   */
  readonly clientState?: boolean | readonly string[] | undefined
  /**
   * How to treat a new message if the client has left out thread messages that come before it. `ignore`:
   * append it to the thread, because the client may not have seen them. `fork`: replace them with it.
   * Default: `ignore`.
   */
  readonly edits?: 'ignore' | 'fork' | undefined
  /** Whether a client that closes its request stops the answer. Default: false, the answer continues. */
  readonly cancelOnLeave?: boolean | undefined
}

export const AG_UI_OPTIONS: OptionTable<AgUiOptions> = {
  basePath: 'string',
  subagents: 'boolean',
  clientState: ['boolean', 'list'],
  edits: 'string',
  cancelOnLeave: 'boolean',
}

/** The context of every endpoint of this face. */
export interface AgUiContext extends FaceContext {
  readonly options: AgUiOptions
}
