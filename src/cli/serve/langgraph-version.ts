import { createRequire } from 'node:module'
import { join } from 'node:path'
import { ConfigError } from './config-reader.ts'

/** The version of a project's LangGraph. Undefined if it has none. */
export function langgraphVersion(folder: string): string | undefined {
  const require = createRequire(join(folder, 'package.json'))
  try {
    return (require('@langchain/langgraph/package.json') as { readonly version: string }).version
  } catch {
    return undefined
  }
}

/**
 * Throws `ConfigError` if this package cannot run a project's LangGraph. Returns a warning if it is only
 * older than the tested ones.
 */
export function checkLangGraph(folder: string): string | undefined {
  const version = langgraphVersion(folder)
  const [major = 1, minor = 0] = version?.split('.').map(Number) ?? []
  if (version === undefined || major > 1 || (major === 1 && minor >= 4)) return undefined
  const found = `${folder} has @langchain/langgraph ${version}, but agentwire needs 1.4 or later.`
  const command = 'npm install @langchain/langgraph@1 @langchain/core@1'
  if (major === 0)
    throw new ConfigError(`${found} Run “${command}” in that folder, or the same with your package manager.`)
  return `${found} Some features may not work.`
}
