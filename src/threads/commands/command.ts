import type * as z from 'zod'
import type { Principal } from '../../http/index.ts'
import type { ThreadAction } from '../../requests/access.ts'
import { explain } from '../../requests/body.ts'
import type { AgentEngine, CommandKey, ThreadRecord } from '../../runs/index.ts'
import { ProtocolError } from '../errors.ts'

/** One command as its function sees it. Its permission was given. */
export interface Command {
  readonly engine: AgentEngine
  readonly threadId: string
  readonly principal: Principal | null
  readonly params: unknown
  /** The W3C `traceparent` of the request. */
  readonly traceparent: string | null
  /** Asks for a permission that only what was read shows the need of. */
  readonly permit: (action: ThreadAction, assistantId?: string) => Promise<void>
  /** Under which the command counts once. Throws for one that is malformed. */
  readonly key: () => Promise<CommandKey | undefined>
}

/** What a command answers: its result, and where the log stood where it changed state. */
export interface CommandResult {
  readonly result: Readonly<Record<string, unknown>>
  readonly appliedThroughSeq?: number
}

export type CommandFunction = (command: Command) => Promise<CommandResult>

/** Checks a command's params. Throws `invalid_argument` with the place that is wrong. */
export function parse<Schema extends z.ZodType>(schema: Schema, params: unknown): z.output<Schema> {
  const parsed = schema.safeParse(params)
  if (parsed.success) return parsed.data
  throw new ProtocolError('invalid_argument', explain(parsed.error))
}

/** The caller's thread. Throws `no_such_run`, as the protocol has no code for an unknown thread. */
export async function requireThread(command: Command): Promise<ThreadRecord> {
  const thread = await command.engine.findThread(command)
  if (thread) return thread
  throw new ProtocolError(
    'no_such_run',
    `Thread ${JSON.stringify(command.threadId)} not found. Start a run to create it.`,
  )
}

export const namespaceKey = (namespace: readonly string[] | undefined): string => (namespace ?? []).join('|')
