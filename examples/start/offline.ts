import { textOf } from 'agentwire'
import { scriptedModel, toolCallsOf } from 'agentwire/testing'

/** A script in place of a model: without a key, and in tests. It mails what it finds out to each address that it reads. */
export const offline = scriptedModel(({ messages }) => {
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  const said = textOf(messages[asked]!)
  const [found, ...mails] = toolCallsOf(messages.slice(asked))
  const addresses = said.match(/[\w.+-]+@[\w.-]*\w/g)
  if (!addresses) return `You said “${said}”. I am a **script**: ask me to mail ada@example.com.`
  if (!found) return { text: 'Let me see.', calls: [{ name: 'look_up', args: { topic: 'tea' } }] }
  if (mails.length > 0) return `**Done.**\n\n${mails.map(({ result }) => `- ${result}`).join('\n')}`
  const text = found.result
  return { text: 'I found this.', calls: addresses.map((to) => ({ name: 'send_mail', args: { to, text } })) }
})
