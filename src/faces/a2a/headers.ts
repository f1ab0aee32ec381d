/** LangGraph's header that chooses the history of a task: `task` or `context`. */
export const HISTORY_SCOPE_HEADER = 'langgraph-a2a-history-scope'

/** The headers of A2A, of both versions, and of its extensions. */
export const A2A_HEADERS = {
  request: ['a2a-version', 'a2a-extensions', 'x-a2a-extensions', HISTORY_SCOPE_HEADER],
  response: ['a2a-version', 'a2a-extensions', 'x-a2a-extensions'],
} as const
