/** The AI SDK's `useChat` with your own server: one command, no model. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createAgentServer, defineAgent, textOf } from 'agentwire'
import { aiSdk } from 'agentwire/ai-sdk'
import { serve } from 'agentwire/node'
import { openSite } from './site.ts'

const { PORT = '3000' } = process.env

/** Writes slowly, and asks before it sends a mail. */
const assistant = defineAgent({
  async run({ messages, message, interrupt, tool }) {
    const text = textOf(messages.at(-1)!)
    const answer = message()
    for (const word of `You said: ${text}`.split(/(?<= )/)) {
      await answer.text(word)
      await sleep(200)
    }
    if (!text.includes('mail')) return
    const { id: toolCallId, name, args } = await answer.toolCall({ name: 'send_mail', args: { text } })
    await answer.end()
    const { decisions } = await interrupt<{ decisions: { type: string }[] }>({
      actionRequests: [{ name, args }],
    })
    const send = () => (decisions[0]!.type === 'approve' ? 'The mail is sent.' : 'The user does not want it.')
    await message(await tool(name, args, send, { toolCallId }))
  },
})

const server = createAgentServer({ agents: { assistant }, faces: [aiSdk(), await openSite()] })
await serve(server, { port: Number(PORT) })
