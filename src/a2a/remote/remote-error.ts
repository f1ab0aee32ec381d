import { FOR_CLIENTS } from '../../agents/errors.ts'
import { AgentwireError } from '../../errors.ts'

export type RemoteErrorCode =
  /** No answer, a lost connection, or a status that says to try later. */
  | 'unreachable'
  /** 401 or 403. */
  | 'unauthorized'
  /** The card is missing, is no card, or names nothing that this client speaks. */
  | 'invalid_card'
  /** What was answered is not A2A. */
  | 'invalid_answer'
  | 'too_large'
  /** A JSON-RPC error, whose code is `rpcCode`. */
  | 'refused'
  /** The remote agent has tried and failed. */
  | 'task_failed'
  /** Somebody else has canceled the task. */
  | 'task_canceled'

/** What went wrong with a remote A2A agent. */
export class A2ARemoteError extends AgentwireError {
  static override readonly brand = 'A2ARemoteError'
  declare readonly code: RemoteErrorCode
  /** The JSON-RPC code of a refusal. */
  readonly rpcCode: number | undefined
  readonly [FOR_CLIENTS]?: true
  constructor(
    code: RemoteErrorCode,
    message: string,
    options?: { readonly cause?: unknown; readonly rpcCode?: number },
  ) {
    super(code, message, options)
    this.rpcCode = options?.rpcCode
    // The remote has told its clients exactly this.
    if (code === 'task_failed') this[FOR_CLIENTS] = true
  }
}

/** The most characters of a remote's text that an error repeats. */
const MAX_TEXT = 2_000

export const shortened = (text: string): string => text.slice(0, MAX_TEXT)
