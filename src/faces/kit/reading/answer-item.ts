import type { MediaBlock, Message, ReasoningBlock, TextBlock } from '../../../messages/index.ts'
import type { Approval } from './approvals.ts'

/** A message from the assistant. */
export interface MessageRef {
  /** Its id in the state, or `message-<seq of its first event>` if it has none. */
  readonly id: string
  /** The call of the subagent that writes the message. Null: the agent itself. */
  readonly owner: string | null
  readonly node: string | undefined
}

/** A tool call. */
export interface CallRef {
  /** No other call of the thread has it. */
  readonly id: string
  /** The id in the state, if an earlier call of the agent has the same: some models number them anew. */
  readonly modelCallId?: string
  readonly name: string
  /** The call of the subagent that makes this call. Null: the agent itself. */
  readonly owner: string | null
  /** The message that makes the call. Null if only the tool reported it. */
  readonly messageId: string | null
  /** The model's provider runs it, such as its own web search. */
  readonly isServer: boolean
}

/** The message and block that an item belongs to. */
export interface BlockRef {
  readonly message: MessageRef
  /** The position among the blocks of the message, in the order in which they began. */
  readonly index: number
}

/** The content of an item, without its position in the log. */
export type AnswerDetail =
  /** The first run of the answer, or a run that continues it. */
  | { readonly type: 'runStart' }
  /** Open blocks and messages were ended before. `error` is the message that clients see. */
  | {
      readonly type: 'runEnd'
      readonly status: 'completed' | 'failed' | 'interrupted'
      readonly error: string | undefined
    }
  /** A graph node, or the scope of a tool: steps and progress. */
  | {
      readonly type: 'node'
      readonly name: string
      readonly namespace: readonly string[]
      readonly state: 'started' | 'completed' | 'failed' | 'interrupted'
    }
  | { readonly type: 'messageStart'; readonly message: MessageRef }
  /**
   * Its blocks were ended before. `whole` has the usage and the stop reason. `isCut`: the model call failed,
   * or the run ended during it.
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
  /** A block that arrives in one piece. */
  | (BlockRef & { readonly type: 'media'; readonly block: MediaBlock })
  | (BlockRef & { readonly type: 'other'; readonly value: unknown })
  | { readonly type: 'callStart'; readonly call: CallRef }
  /** The next part of the arguments, as JSON text. */
  | { readonly type: 'callArgs'; readonly call: CallRef; readonly args: string }
  | { readonly type: 'callEnd'; readonly call: CallRef; readonly input: Readonly<Record<string, unknown>> }
  /** The arguments are not a JSON object, or were cut off. `input` is their text. */
  | {
      readonly type: 'callInvalid'
      readonly call: CallRef
      readonly input: string
      readonly error: string
    }
  /** Output that a running tool streams. */
  | { readonly type: 'callOutput'; readonly call: CallRef; readonly text: string }
  /**
   * Once for each call, from the tool or from a state, whichever comes first. Repeated if a process was lost
   * with the result and the tool ran again.
   */
  | {
      readonly type: 'callResult'
      readonly call: CallRef
      readonly status: 'success' | 'error'
      /** The tool message, if there is one. */
      readonly message: Message | undefined
      /** The text of the result or error. */
      readonly text: string
      /** The output from the provider, for one of its own tools. */
      readonly output?: unknown
    }
  /**
   * The call belongs to a subagent, because something inside it writes or makes calls. Repeated in each run
   * that continues it.
   */
  | { readonly type: 'subagentStart'; readonly call: CallRef; readonly name: string }
  | { readonly type: 'subagentEnd'; readonly call: CallRef; readonly status: 'success' | 'error' }
  /** A question that was asked now. `questions` at the answer's end has those that are still open. */
  | {
      readonly type: 'question'
      readonly id: string
      readonly value: unknown
      readonly owner: string | null
      /** The actions to decide on, if the question asks for approval of tool calls. */
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
   * The state has these messages now. Items of messages that it does not keep are retracted at the end of the
   * run.
   */
  | { readonly type: 'kept'; readonly messages: readonly string[] }
  /**
   * These messages and calls are void. Later items may reuse the ids. Their open parts were ended before.
   * `lost`: their process was lost, or the agent writes the message again under its id. `unused`: the model
   * call failed and was repeated, or its output is not in the state at the end of the run.
   */
  | {
      readonly type: 'retract'
      readonly reason: 'lost' | 'unused'
      readonly messages: readonly string[]
      readonly calls: readonly string[]
    }
  /**
   * Part of the log was dropped. `values` is the newest state, including messages. Later items continue from
   * it.
   */
  | { readonly type: 'gap'; readonly values: Readonly<Record<string, unknown>> }

/** An item of an answer. Items are in the order of the log. */
export type AnswerItem = AnswerDetail & {
  /** The sequence number of its event. One event may produce several items. */
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly timestamp: number
  readonly runId: string
}
