import type { Principal } from '../../../core/http/index.ts'
import type { AgentEngine, CommandKey, ThreadRecord } from '../../../engine/index.ts'
import type { NamedAssistant } from '../../kit/assistants.ts'
import { readBy } from '../../kit/body.ts'
import type { Read, Schema } from '../../kit/parse.ts'
import { ProtocolError } from '../errors.ts'

/** A command as its function gets it, after the permission check. */
export interface Command {
  readonly engine: AgentEngine
  readonly threadId: string
  readonly principal: Principal | null
  /** The assistant that the command names. */
  readonly named: NamedAssistant
  readonly params: unknown
  readonly request: Request
  /** The W3C `traceparent` of the request. */
  readonly traceparent: string | null
  /** The command's idempotency key. Throws if it is malformed. */
  readonly key: () => Promise<CommandKey | undefined>
}

/**
 * The result of a command and, if it changed state, the last sequence number of the log before the change.
 */
export interface CommandResult {
  readonly result: Readonly<Record<string, unknown>>
  readonly appliedThroughSeq?: number
}

export type CommandFunction = (command: Command) => Promise<CommandResult>

/** Validates a command's params. Throws `invalid_argument` with the name of the invalid field. */
export const parse = <S extends Schema>(schema: S, params: unknown): Read<S> =>
  readBy(schema, params, (message) => new ProtocolError('invalid_argument', message))

/** The caller's thread. */
export const requireThread = async (command: Command): Promise<ThreadRecord> =>
  knownThread(command, await command.engine.findThread(command))

/** Throws `no_such_run` for an unknown thread, because the protocol has no code for one. */
export function knownThread(
  command: Pick<Command, 'threadId'>,
  thread: ThreadRecord | undefined,
): ThreadRecord {
  if (thread) return thread
  throw new ProtocolError(
    'no_such_run',
    `Thread ${JSON.stringify(command.threadId)} not found. Start a run to create it.`,
  )
}

export const namespaceKey = (namespace: readonly string[] | undefined): string => (namespace ?? []).join('|')
