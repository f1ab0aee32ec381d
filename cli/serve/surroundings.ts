import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { ServerSurroundings } from '../../src/platform/index.ts'

/** What `GET /info` says of a project's folder and of the environment. */
export const surroundingsOf = (folder: string): ServerSurroundings => ({
  langgraph_js_version: langgraphVersion(folder),
  langsmith: Boolean(process.env.LANGSMITH_API_KEY ?? process.env.LANGCHAIN_API_KEY),
})

/** Of the copy that the project has; null where it has none. */
function langgraphVersion(folder: string): string | null {
  const require = createRequire(join(folder, 'package.json'))
  try {
    return (require('@langchain/langgraph/package.json') as { readonly version: string }).version
  } catch {
    return null
  }
}
