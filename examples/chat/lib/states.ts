import { Client } from '@langchain/langgraph-sdk/client'
import { agents, apiUrl } from './client.ts'

/** Reads and writes thread states. */
export const states = new Client({ apiUrl, callerOptions: { maxRetries: 1, fetch: agents.fetch } }).threads
