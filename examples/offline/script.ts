/**
 * The model's input: the user's last words, the tool results since then by tool name, and the available
 * tools.
 */
interface Turn {
  readonly said: string
  readonly results: ReadonlyMap<string | undefined, string>
  readonly tools: readonly string[]
}

export interface Reply {
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly args: Readonly<Record<string, unknown>> }[]
}

/** The examples' model: it asks a researcher, multiplies, mails the result, and says so. */
export function next({ said, results, tools }: Turn): Reply {
  if (tools.includes('look_up')) {
    const known = results.get('look_up')
    return known === undefined
      ? { text: '', calls: [{ name: 'look_up', args: { topic: said } }] }
      : { text: `${known} I found nothing else.`, calls: [] }
  }
  if (!/mail/i.test(said))
    return {
      text: `You said “${said}”. I am a script. Ask me for a mail, and I ask you before I send it.`,
      calls: [],
    }
  const [found, product, sent] = ['task', 'multiply', 'send_mail'].map((name) => results.get(name))
  if (found === undefined || product === undefined) {
    const research = { subagent_type: 'researcher', description: 'tea' }
    const factors = { a: 6, b: 7 }
    return {
      text: 'Let me see.',
      calls: [
        { name: 'task', args: research },
        { name: 'multiply', args: factors },
      ],
    }
  }
  if (sent === undefined) {
    const mail = { to: 'ada@example.com', text: `${found} And 6 * 7 is ${product}.` }
    return { text: 'I have both.', calls: [{ name: 'send_mail', args: mail }] }
  }
  return { text: `6 * 7 is ${product}. ${found} The mail: ${sent}`, calls: [] }
}
