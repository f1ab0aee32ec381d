import { isRecord } from '../../../messages/record.ts'

interface ToolCall {
  readonly id: unknown
  readonly name: unknown
  readonly namespace: readonly string[]
}

/** What the chunks of a classic run leave out of the calls of models and tools. */
export type CallWatch = ReturnType<typeof createCallWatch>

/**
 * Watches the calls of a run. Its callbacks run during the calls, and the chunks are read later, so it only
 * records where a tool was called from, and how many chunks a message has.
 */
export function createCallWatch() {
  const tools: ToolCall[] = []
  const models = new Map<string, { readonly place: unknown; chunks: number }>()
  const ended = new Map<string, number>()
  const handler = {
    name: 'agentwire',
    // The engine must wait for the handlers.
    awaitHandlers: true,
    // It has nothing to do with these, and calling it all the same costs as much.
    ignoreChain: true,
    ignoreRetriever: true,
    ignoreCustomEvent: true,
    handleChatModelStart(...[, , runId, , , , metadata]: readonly unknown[]) {
      const place = isRecord(metadata) ? metadata.langgraph_checkpoint_ns : undefined
      models.set(String(runId), { place, chunks: 0 })
    },
    handleLLMNewToken(_token: unknown, _index: unknown, runId: string) {
      const call = models.get(runId)
      if (call) call.chunks += 1
    },
    handleLLMEnd(output: unknown, runId: string) {
      const call = models.get(runId)
      models.delete(runId)
      const { generations } = Object(output) as { readonly generations?: readonly (readonly unknown[])[] }
      const { message } = Object(generations?.[0]?.[0]) as { readonly message?: { readonly id?: unknown } }
      const id = typeof message?.id === 'string' ? message.id : `run-${runId}`
      if (call && call.chunks > 0) ended.set(`${call.place} ${id}`, call.chunks)
    },
    handleLLMError(_error: unknown, runId: string) {
      models.delete(runId)
    },
    handleToolStart(...[, , , , , metadata, name, id]: readonly unknown[]) {
      const namespace = isRecord(metadata) ? metadata.langgraph_checkpoint_ns : undefined
      if (typeof namespace === 'string')
        tools.push({ id, name: name ?? 'unknown', namespace: namespace.split('|') })
    },
  }
  return {
    /** A handler of LangChain's callbacks, to be given to the run. */
    handler,
    /** The namespace of the task that has called a tool. Undefined where it is not known. */
    placeOf(id: unknown, name: unknown): readonly string[] | undefined {
      const at = tools.findIndex((call) => call.id === id && call.name === name)
      return at < 0 ? undefined : tools.splice(at, 1)[0]!.namespace
    },
    /** Whether the model had ended the message after this number of chunks. */
    hasEnded(place: string, messageId: string, chunks: number): boolean {
      const key = `${place} ${messageId}`
      return ended.get(key) === chunks && ended.delete(key)
    },
  }
}
