import type * as z from 'zod'
import type { Principal } from '../../http/index.ts'
import type { ThreadAction } from '../../requests/access.ts'
import { explain } from '../../requests/body.ts'
import type { CommandKey, ThreadRecord } from '../../runs/index.ts'
import type { ThreadsContext } from '../context.ts'
import { ProtocolError } from '../errors.ts'

/** One command as its function sees it. */
export interface Command extends ThreadsContext {
  readonly threadId: string
  readonly owner: string | null
  readonly principal: Principal | null
  readonly params: unknown
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
export async function requireThread({ engine, threadId, owner }: Command): Promise<ThreadRecord> {
  const thread = await engine.findThread(threadId, owner)
  if (thread) return thread
  throw new ProtocolError(
    'no_such_run',
    `Thread ${JSON.stringify(threadId)} not found. Start a run to create it.`,
  )
}

/** The assistant of a command: as named, else the thread's, else the server's default. */
export async function assistantOf(command: Command, named: string | undefined): Promise<string> {
  if (named !== undefined) return named
  const { engine, threadId, owner } = command
  const assistantId = (await engine.findThread(threadId, owner))?.assistantId ?? engine.defaultAgent
  if (assistantId != null) return assistantId
  throw new ProtocolError('invalid_argument', 'assistant_id: name the assistant that should run.')
}

export const namespaceKey = (namespace: readonly string[] | undefined): string => (namespace ?? []).join('|')
