// #region client
import { Client } from '@langchain/langgraph-sdk'
import type { PackingState } from './agents.ts'

const client = new Client({ apiUrl: 'http://127.0.0.1:3000' })

export async function pack(): Promise<readonly string[]> {
  const { thread_id } = await client.threads.create()
  await client.runs.wait(thread_id, 'packing', { input: {} })
  const { values } = await client.threads.getState<PackingState>(thread_id)
  return values.items ?? []
}
// #endregion
