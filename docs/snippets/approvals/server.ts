// #region agent
import { createAgentServer, defineAgent } from 'agentwire'
import { serve } from 'agentwire/node'

const agent = defineAgent({
  async run({ interrupt, tool }) {
    const { approved, to } = await interrupt<{ approved: boolean; to: string }>({
      question: 'Send the mail?',
      to: 'ada@example.com',
    })
    if (approved) await tool('send_mail', { to }, () => `Sent to ${to}.`)
  },
})

await serve(createAgentServer({ agents: { agent } }), { port: 3000 })
// #endregion
