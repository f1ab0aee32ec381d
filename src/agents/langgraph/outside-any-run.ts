const LANGCHAIN_CONTEXT = Symbol.for('ls:tracing_async_local_storage')

/**
 * LangChain passes the config of a running node to everything that the node calls, even across requests in
 * this process. Without this function, a run that a tool starts on another agent would become part of the
 * first run.
 */
export function outsideAnyRun<T>(work: () => T): T {
  const context = (globalThis as { [LANGCHAIN_CONTEXT]?: { run?(store: undefined, work: () => T): T } })[
    LANGCHAIN_CONTEXT
  ]
  return context?.run ? context.run(undefined, work) : work()
}
