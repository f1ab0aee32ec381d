import { isRecord } from '../../../messages/record.ts'

interface ToolCall {
  readonly id: unknown
  readonly name: unknown
  readonly namespace: readonly string[]
}

/** Information about model and tool calls that the chunks of a classic run lack. */
export type CallWatch = ReturnType<typeof createCallWatch>

/**
 * Observes the calls of a run. Its callbacks run during the calls, but the chunks are read later. It
 * therefore only records where each tool was called, and how many chunks each message has.
 */
export function createCallWatch() {
  const tools: ToolCall[] = []
  const models = new Map<string, { readonly place: unknown; chunks: number }>()
  const ended = new Map<string, number>()
  const handler = {
    name: 'agentwire',
    // The engine must wait for the handlers.
    awaitHandlers: true,
    // These are not used here, and calling the handler for them would cost as much.
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
    /** A LangChain callback handler to pass to the run. */
    handler,
    /** The namespace of the task that called a tool. Undefined if unknown. */
    placeOf(id: unknown, name: unknown): readonly string[] | undefined {
      const at = tools.findIndex((call) => call.id === id && call.name === name)
      return at < 0 ? undefined : tools.splice(at, 1)[0]!.namespace
    },
    /** Whether the model ended the message after this number of chunks. */
    hasEnded(place: string, messageId: string, chunks: number): boolean {
      const key = `${place} ${messageId}`
      return ended.get(key) === chunks && ended.delete(key)
    },
  }
}
