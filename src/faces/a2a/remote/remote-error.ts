import { FOR_CLIENTS } from '../../../agents/errors.ts'
import { AgentwireError } from '../../../core/errors.ts'

/** The codes of `A2ARemoteError`. */
export type RemoteErrorCode =
  /** No response, a lost connection, or a status that asks to retry later. */
  | 'unreachable'
  /** 401 or 403. */
  | 'unauthorized'
  /** The card is missing, invalid, or offers no interface that this client supports. */
  | 'invalid_card'
  /** The response is not valid A2A. */
  | 'invalid_answer'
  | 'too_large'
  /** A JSON-RPC error, with its code in `rpcCode`. */
  | 'refused'
  /** The remote agent failed. */
  | 'task_failed'
  /** Another client canceled the task. */
  | 'task_canceled'

/** An error of a remote A2A agent. */
export class A2ARemoteError extends AgentwireError {
  static override readonly brand = 'A2ARemoteError'
  declare readonly code: RemoteErrorCode
  /** The JSON-RPC code of a rejection. */
  readonly rpcCode: number | undefined
  readonly [FOR_CLIENTS]?: true
  constructor(
    code: RemoteErrorCode,
    message: string,
    options?: { readonly cause?: unknown; readonly rpcCode?: number },
  ) {
    super(code, message, options)
    this.rpcCode = options?.rpcCode
    // The remote agent shows this text to its clients.
    if (code === 'task_failed') this[FOR_CLIENTS] = true
  }
}

/** The maximum length of a remote text in an error, in characters. */
const MAX_TEXT = 2_000

export const shortened = (text: string): string => text.slice(0, MAX_TEXT)
