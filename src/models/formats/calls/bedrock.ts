import { fieldsOf, listOf } from '../reading/fields.ts'
import { dropUndefined } from '../writing/fields.ts'
import { type Ask, type ToolSchema, toolsOf } from './model.ts'

/** The part of `new BedrockRuntime()` that is called. `BedrockRuntimeClient` does not have it. */
export interface BedrockClient {
  converseStream(
    request: never,
    options?: { readonly abortSignal?: AbortSignal },
  ): PromiseLike<{ readonly stream?: AsyncIterable<unknown> | undefined }>
}

export const askBedrock: Ask<BedrockClient> = async (
  client,
  written,
  { model: modelId, settings, signal, ...input },
) => {
  // A thread with calls needs the tools that were called, also if the agent has none any more.
  const given = input.tools?.length ? input.tools : calledIn(written.messages)
  const tools = toolsOf({ ...input, tools: given }, ({ name, description, parameters }) => ({
    toolSpec: dropUndefined({ name, description, inputSchema: { json: parameters } }),
  }))
  const request = dropUndefined({ modelId, ...written, toolConfig: tools && { tools }, ...settings })
  const { stream } = await client.converseStream(request as never, dropUndefined({ abortSignal: signal }))
  return stream!
}

function calledIn(messages: unknown): ToolSchema[] {
  const uses = listOf(messages).flatMap((message) =>
    listOf(fieldsOf(message).content).flatMap((block) => fieldsOf(fieldsOf(block).toolUse).name ?? []),
  )
  return [...new Set(uses as string[])].map((name) => ({ name, parameters: { type: 'object' } }))
}
