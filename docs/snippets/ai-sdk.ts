// #region server
import { createAgentServer, defineAgent, textOf } from 'agentwire'
import { aiSdk } from 'agentwire/ai-sdk'

const assistant = defineAgent({
  async run({ messages, message }) {
    await message(`You said: ${textOf(messages.at(-1)!)}`)
  },
})

export const server = createAgentServer({ agents: { assistant }, faces: [aiSdk()] })
// #endregion

// #region stop
async function stop(chatId: string, messageId?: string) {
  await fetch(`/api/chat/${chatId}/stop`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messageId }),
  })
}
// #endregion

await server.close()
export { stop }
