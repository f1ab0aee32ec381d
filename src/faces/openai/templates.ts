/**
 * Open WebUI puts the passages that it has found before what the user says, in the newest message only. The
 * default template begins with `### Task:`, and ends with `</context>`.
 */
const TEMPLATE = '### Task:'
const END = '</context>'

/** What the user says, after the template of a UI. Undefined for a text without one. */
function afterTemplate(text: string): string | undefined {
  if (!text.trimStart().startsWith(TEMPLATE)) return undefined
  const end = text.lastIndexOf(END)
  if (end < 0) return undefined
  const said = text.slice(end + END.length).trim()
  // Tasks about the chat end with the chat itself.
  return said === '' || said.includes('</chat_history>') ? undefined : withoutTags(said)
}

/** Earlier releases of Open WebUI put tags around what the user says. */
function withoutTags(said: string): string {
  const [open, close] = ['<user_query>', '</user_query>']
  const isTagged = said.startsWith(open) && said.endsWith(close)
  return isTagged ? said.slice(open.length, -close.length).trim() : said
}

/** A message's content without the template. */
export function withoutTemplate(content: unknown): unknown {
  if (typeof content === 'string') return afterTemplate(content) ?? content
  if (!Array.isArray(content)) return content
  return content.map((part: unknown) => {
    const { text } = Object(part) as { readonly text?: unknown }
    return typeof text === 'string' ? { ...(part as object), text: afterTemplate(text) ?? text } : part
  })
}

/**
 * Prompts that UIs send to the same model outside of the conversation: for titles, tags, follow-up questions,
 * searches, tools, emojis, and one answer of several.
 */
const TASK =
  /^\s*(### Task:|Provide a concise, 5-word-or-less title|Analyze this conversation and provide:|Please generate a (concise|short)\b.*\btitle|(Here is the query:|Create a concise, 3-5 word)|Your task is to reflect the speaker's likely facial expression|You have been provided with a set of responses from various models)/i

/** How Open WebUI asks which tool to call: its instructions are in the system's message. */
const TOOLS = /^\s*Available Tools:/

/** Whether the only message of a request is such a prompt. */
export const isTaskPrompt = (text: string, system: string): boolean =>
  (TASK.test(text) && afterTemplate(text) === undefined) ||
  (TOOLS.test(system) && /^\s*(Query|History):/.test(text))
