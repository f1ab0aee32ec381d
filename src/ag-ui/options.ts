import type { OptionTable } from '../options.ts'

export interface AgUiOptions {
  /** Such as `/api`, for `/api/ag-ui/…`. Default: none. */
  readonly basePath?: string | undefined
  /**
   * Whether clients are told of subagents, with `SUBAGENT_*` events and the text and calls of each. Clients before 0.0.58 fail on these
   * events: for them it must be false, and what subagents do is left out. Default: true.
   */
  readonly subagents?: boolean | undefined
  /**
   * The keys of the agent's state that a client writes with the state of its page. A key is written where its value is another one than
   * the thread has. Default: true, which is every key that the agent takes in its input, but for `messages`.
   */
  readonly clientState?: boolean | readonly string[] | undefined
  /**
   * What becomes of a new message whose client has left out messages that the thread has after the one before it. `ignore`: it is the
   * next message of the thread, because the client may not have seen them. `fork`: it takes their place. Default: `ignore`.
   */
  readonly edits?: 'ignore' | 'fork' | undefined
  /** Whether a client that ends its request stops the answer. Default: false, the answer goes on. */
  readonly cancelOnLeave?: boolean | undefined
}

export const AG_UI_OPTIONS: OptionTable<AgUiOptions> = {
  basePath: 'string',
  subagents: 'boolean',
  clientState: ['boolean', 'list'],
  edits: 'string',
  cancelOnLeave: 'boolean',
}
