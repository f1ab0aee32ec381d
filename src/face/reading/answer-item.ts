import type { MediaBlock, Message, ReasoningBlock, TextBlock } from '../../messages/index.ts'
import type { Approval } from './approvals.ts'

/** A message of an assistant. */
export interface MessageRef {
  /** Its id in the state; `message-<seq of its first event>` where it has none. */
  readonly id: string
  /** The call of the subagent that writes it. Null: the agent itself. */
  readonly owner: string | null
  readonly node: string | undefined
}

/** A call of a tool. */
export interface CallRef {
  readonly id: string
  readonly name: string
  /** The call of the subagent that makes it. Null: the agent itself. */
  readonly owner: string | null
  /** The message that makes it. Null where only the tool itself has told of the call. */
  readonly messageId: string | null
  /** The provider of the model runs it, such as its own web search. */
  readonly isServer: boolean
}

/** Which block of which message an item is about. */
export interface BlockRef {
  readonly message: MessageRef
  /** Its place among the blocks of the message, in the order in which they began. */
  readonly index: number
}

/** What an item says, without where it is in the log. */
export type AnswerDetail =
  /** The first run of the answer, or one that continues it. */
  | { readonly type: 'runStart' }
  /** What was open has been ended before. `error` is what clients are told. */
  | {
      readonly type: 'runEnd'
      readonly status: 'completed' | 'failed' | 'interrupted'
      readonly error: string | undefined
    }
  /** A node of a graph, or the scope of a tool: steps and progress. */
  | {
      readonly type: 'node'
      readonly name: string
      readonly namespace: readonly string[]
      readonly state: 'started' | 'completed' | 'failed' | 'interrupted'
    }
  | { readonly type: 'messageStart'; readonly message: MessageRef }
  /**
   * Its blocks have been ended before. `whole` has its usage and why the model stopped. `isCut`: the call of the model has failed, or
   * the run ended in the middle of it.
   */
  | {
      readonly type: 'messageEnd'
      readonly message: MessageRef
      readonly whole: Message
      readonly isCut: boolean
    }
  | (BlockRef & { readonly type: 'textStart' })
  | (BlockRef & { readonly type: 'textDelta'; readonly text: string })
  /** `block` has the annotations. */
  | (BlockRef & { readonly type: 'textEnd'; readonly block: TextBlock })
  | (BlockRef & { readonly type: 'reasoningStart' })
  | (BlockRef & { readonly type: 'reasoningDelta'; readonly text: string })
  | (BlockRef & { readonly type: 'reasoningEnd'; readonly block: ReasoningBlock })
  /** A block that comes whole. */
  | (BlockRef & { readonly type: 'media'; readonly block: MediaBlock })
  | (BlockRef & { readonly type: 'other'; readonly value: unknown })
  | { readonly type: 'callStart'; readonly call: CallRef }
  /** The next piece of the arguments' JSON text. */
  | { readonly type: 'callArgs'; readonly call: CallRef; readonly args: string }
  | { readonly type: 'callEnd'; readonly call: CallRef; readonly input: Readonly<Record<string, unknown>> }
  /** The arguments are no JSON object, or were cut off. `input` is their text. */
  | {
      readonly type: 'callInvalid'
      readonly call: CallRef
      readonly input: string
      readonly error: string
    }
  /** A piece of what a running tool sends. */
  | { readonly type: 'callOutput'; readonly call: CallRef; readonly text: string }
  /**
   * Once for each call, from the tool or from a state, whichever tells of it first; once more where a process was lost with the result
   * and the tool ran again.
   */
  | {
      readonly type: 'callResult'
      readonly call: CallRef
      readonly status: 'success' | 'error'
      /** The tool message, where there is one. */
      readonly message: Message | undefined
      /** Its text, or the error's. */
      readonly text: string
      /** What the provider has sent, for one of its own tools. */
      readonly output?: unknown
    }
  /** A call is that of a subagent, because something in it writes or calls. Told again in each run that goes on with it. */
  | { readonly type: 'subagentStart'; readonly call: CallRef; readonly name: string }
  | { readonly type: 'subagentEnd'; readonly call: CallRef; readonly status: 'success' | 'error' }
  /** A question that was asked now. Those that are open at the end are `questions` of the answer's end. */
  | {
      readonly type: 'question'
      readonly id: string
      readonly value: unknown
      readonly owner: string | null
      /** The actions to decide on, where it asks for approval of tool calls. */
      readonly approvals: readonly Approval[] | undefined
    }
  /** The state of the agent itself, without its messages, after each step. */
  | { readonly type: 'state'; readonly values: Readonly<Record<string, unknown>> }
  | {
      readonly type: 'custom'
      readonly name: string | undefined
      readonly payload: unknown
      readonly owner: string | null
    }
  /**
   * These messages and calls are void: the process that wrote them was lost, or the agent writes a message again. What follows may
   * have the same ids. What was open of them has been ended before.
   */
  | { readonly type: 'retract'; readonly messages: readonly string[]; readonly calls: readonly string[] }
  /** The log has lost a part. `values` is the newest state, with its messages; what follows goes on from it. */
  | { readonly type: 'gap'; readonly values: Readonly<Record<string, unknown>> }

/** What an answer says, in the order of the log. */
export type AnswerItem = AnswerDetail & {
  /** The sequence number of its event. One event may become several items. */
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly timestamp: number
  readonly runId: string
}
