/** The published clients of the protocol, each version as it is used, said in one form so that one scenario drives all of them. */
export interface A2AClient {
  send(text: string, options?: SendOptions): Promise<Told>
  stream(text: string, options?: SendOptions): AsyncIterable<Told>
  get(id: string): Promise<Told>
  /** The ids of a context's tasks. Only v1.0 has it. */
  list?(contextId: string): Promise<readonly string[]>
  cancel(id: string): Promise<Told>
  resubscribe(id: string): AsyncIterable<Told>
  setPush(taskId: string, push: Push): Promise<Push>
  getPush(taskId: string, id: string): Promise<Push>
  listPush(taskId: string): Promise<readonly Push[]>
  deletePush(taskId: string, id: string): Promise<void>
}

export interface SendOptions {
  readonly contextId?: string
  readonly taskId?: string
  /** Default: true. */
  readonly blocking?: boolean
}

/** What an answer or an event tells. */
export interface Told {
  readonly kind: 'task' | 'message' | 'status' | 'artifact'
  readonly id: string
  readonly contextId: string
  /** As v0.3 spells it. */
  readonly state?: string
  /** The text of the artifacts. */
  readonly text: string
}

export interface Push {
  readonly id: string
  readonly url: string
  readonly token?: string
}

/** Opens a client of the agent whose card is at this base URL and path. */
export type OpenClient = (base: string, cardPath: string, fetchImpl: typeof fetch) => Promise<A2AClient>
