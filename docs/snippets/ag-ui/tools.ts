import { createAgent } from 'langchain'
import { ScriptedChatModel } from '../../../test/fixtures/graphs.ts'

const model = new ScriptedChatModel(() => ({ text: 'Hello.' }))

// #region middleware
import { createMiddleware } from 'langchain'

type ClientTool = { type: 'function'; function: { name: string; description?: string; parameters?: object } }

const toolsOf = (runtime: { readonly configurable?: Record<string, unknown> }) =>
  (runtime.configurable?.client_tools ?? []) as ClientTool[]

/** Gives the model the tools of the page, and ends the run when it calls one of them. */
export const clientTools = createMiddleware({
  name: 'ClientTools',
  wrapModelCall: (request, handler) =>
    handler({ ...request, tools: [...request.tools, ...toolsOf(request.runtime)] }),
  afterModel: {
    canJumpTo: ['end'],
    hook({ messages }, runtime) {
      const names = toolsOf(runtime).map((tool) => tool.function.name)
      const calls = (messages.at(-1) as { tool_calls?: { name: string }[] } | undefined)?.tool_calls ?? []
      return calls.some(({ name }) => names.includes(name)) ? { jumpTo: 'end' as const } : undefined
    },
  },
})
// #endregion

createAgent({ model, tools: [], middleware: [clientTools] })
