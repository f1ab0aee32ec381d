import { runAlone } from './support/report.ts'
import type { Server } from './support/server.ts'
import { post, readUntil, wordsOf } from './support/words.ts'

/** Measures an answer that one page reads as chunks of the AI SDK. */
export const aiSdkChats = wordsOf(
  'a word of an answer as chunks of the AI SDK, vs the streaming protocol',
  chat,
)

async function chat({ port }: Server): Promise<void> {
  const parts = [{ type: 'text', text: 'Speak' }]
  const messages = [{ id: crypto.randomUUID(), role: 'user', parts }]
  const body = { id: crypto.randomUUID(), assistantId: 'words', messages }
  await readUntil(await post(port, '/api/chat', body), '[DONE]')
}

await runAlone(import.meta.url, aiSdkChats)
