import type { ServerOptions } from '../../src/index.ts'

/** A call of a tool, as a client was shown it. */
export interface ShownCall {
  readonly id: string
  readonly name: string
  readonly input: unknown
  /** The text of its result. Undefined where it has none yet. */
  readonly result: string | undefined
}

/** What a client was shown of an answer. */
export interface Shown {
  /** The text of the last message. */
  readonly text: string
  /** Undefined for a door that shows no calls of tools which the agent runs itself. */
  readonly calls: readonly ShownCall[] | undefined
  readonly end: 'completed' | 'asks' | 'failed'
  /** The sentence for the user, where it has failed. */
  readonly error?: string | undefined
}

/** What a client says to one agent, on one thread. */
export interface Conversation {
  /** Sends a message, and reads the answer until it ends or asks. */
  send(text: string): Promise<Shown>
  /** Approves all that the last answer has asked to approve. */
  approve(): Promise<Shown>
}

export interface Place {
  readonly origin: string
  readonly threadId: string
  readonly agent: string
}

/** A protocol, with a client of it. */
export interface Door {
  readonly name: string
  /** What a server mounts for it. None for those that it always has. */
  readonly faces: NonNullable<ServerOptions['faces']>
  /** The id of the thread, where the client does not choose it. */
  readonly open: (place: Place) => Conversation
  /** The thread of the conversation, where the client cannot name it. Default: that of the place. */
  readonly threadOf?: (place: Place) => Promise<string>
}
