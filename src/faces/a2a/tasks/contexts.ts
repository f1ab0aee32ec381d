import { uuidOf } from '../../../core/ids.ts'
import { namesOwnerOf, type Principal } from '../../../core/principal.ts'
import {
  type CommandKey,
  internalsOf,
  lookAtThread,
  type ServedEngine,
  type ThreadLook,
  type ThreadRecord,
} from '../../../engine/index.ts'
import { isThreadId } from '../../kit/ids.ts'
import { A2AError } from '../errors.ts'
import { MAX_ID } from './ids.ts'

/** A conversation with its A2A context and the engine's thread. */
export interface Conversation {
  readonly contextId: string
  readonly threadId: string
  /** Undefined if the thread does not exist yet. */
  readonly thread: ThreadRecord | undefined
  /** The result of looking it up. Absent if the server has just created its id. */
  readonly look?: ThreadLook | undefined
}

export interface ContextAddress {
  readonly engine: ServedEngine
  readonly principal: Principal | null
  readonly assistantId: string
  readonly contextId: string
  /** The command whose result is looked up with the thread. */
  readonly command?: CommandKey | undefined
  /** The answer that is looked up with the thread. */
  readonly answerId?: string | undefined
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/**
 * The thread of a context: the caller's thread with this id and assistant, created by any face, or the thread
 * that stands for the context. The latter has the context's id if it is a UUID that is free, otherwise an id
 * derived from the context, the caller and the assistant. Two assistants with the same context therefore have
 * separate states, and callers cannot share one.
 */
export async function conversationOf(address: ContextAddress): Promise<Conversation> {
  const { engine, assistantId, contextId } = address
  if (contextId.length > MAX_ID)
    throw new A2AError('invalid_params', `contextId: expected at most ${MAX_ID} characters.`)
  // A context that is not a UUID keeps the thread of its first message, even if a thread gets its id later.
  const own = UUID.test(contextId) ? undefined : await derivedThread(address)
  if (own?.thread) return own
  const named = isThreadId(contextId) ? await conversationIn(address, contextId) : undefined
  if (named?.thread && isOf(engine, named.thread, assistantId)) return named
  const apart = own ?? (await derivedThread(address))
  // The id may belong to another caller, or to a thread of another assistant.
  return own || apart.thread || !named || named.look.isTaken ? apart : named
}

/** The context in the thread with this id. */
async function conversationIn(
  { engine, principal, contextId, command, answerId }: ContextAddress,
  threadId: string,
): Promise<Conversation & { readonly look: ThreadLook }> {
  const look = await lookAtThread(engine, { threadId, principal, command, answerId })
  return { contextId, threadId, thread: look.thread, look }
}

/** The context in a separate thread, for an id that another owner has. */
async function derivedThread(address: ContextAddress): ReturnType<typeof conversationIn> {
  const { principal, assistantId, contextId } = address
  return conversationIn(address, await uuidOf(['a2a', namesOwnerOf(principal), assistantId, contextId]))
}

const isOf = (engine: ServedEngine, thread: ThreadRecord, assistantId: string): boolean =>
  thread.assistantId === null || agentIdOf(engine, thread.assistantId) === assistantId

/** The id of the agent with a name, which may be an alias. */
export const agentIdOf = (engine: ServedEngine, name: string): string =>
  internalsOf(engine).aliases.get(name) ?? name
