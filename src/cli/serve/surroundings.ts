import type { ServerInfo } from '../../faces/rest/index.ts'
import { langgraphVersion } from './langgraph-version.ts'

/** The fields of `GET /info` that come from a project's folder and the environment. */
export const surroundingsOf = (folder: string): ServerInfo => ({
  langgraph_js_version: langgraphVersion(folder) ?? null,
  langsmith: Boolean(process.env.LANGSMITH_API_KEY ?? process.env.LANGCHAIN_API_KEY),
})
