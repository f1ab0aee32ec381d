import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages'
import { findArithmetic } from '../tools/calculate.ts'
import { type Finding, searchLibrary, stems } from '../tools/library.ts'
import { describeAttachments } from './attachments.ts'
import { chart, table } from './figures.ts'
import type { Reply, Script } from './scripted-model.ts'
import { GREETING, LONG_STORY, MARKDOWN, STORY } from './texts.ts'

/** The coordinator's own answers, by a word in the request. The first match counts. */
const ANSWERS: readonly (readonly [RegExp, Reply])[] = [
  [
    /\bfail on purpose\b/i,
    { text: 'I will break now, in the middle of', error: 'The model was asked to fail.' },
  ],
  [/\blong story\b/i, { reasoning: 'They have time. I tell the whole of it.', text: LONG_STORY }],
  [/\bstory\b/i, { text: STORY }],
  [
    /\bmarkdown\b/i,
    { reasoning: 'They want to see all that Markdown can do: I use it all.', text: MARKDOWN },
  ],
  [
    /\b(?:chart|diagram|picture)\b/i,
    { text: 'Here are the cups of coffee of a week, as a picture.', media: [chart] },
  ],
  [/\bcsv\b/i, { text: 'Here are the cups of coffee of a week, as a file.', media: [table] }],
]

/** The coordinator: delegates arithmetic and questions to its subagents, in parallel if there are both. */
export const coordinate: Script = (messages, tools) => {
  const { request, attachments, results, calls } = lastTurn(messages)
  if (results.length > 0) return { text: results.map((result, at) => told(result, calls[at])).join('\n\n') }
  if (attachments !== '')
    return { reasoning: 'They sent me something. I look at what it is.', text: attachments }
  const report = reportOf(request)
  if (report && tools.includes('write_file')) return report
  const answer = ANSWERS.find(([words]) => words.test(request))?.[1]
  if (answer) return answer
  const tasks = request.split(';').flatMap(tasksOf)
  if (tasks.length === 0 || !tools.includes('task')) return { text: GREETING }
  const names = [...new Set(tasks.map((task) => task.subagent_type))].join(' and ')
  return {
    reasoning: `This is work for ${names}${tasks.length > 1 ? ', all at the same time' : ''}.`,
    text: `Let me ask the ${names}.`,
    calls: tasks.map((args) => ({ name: 'task', args })),
  }
}

/** What the coordinator says about a result: it names a file, and repeats everything else. */
function told({ text, status }: Result, call: Readonly<Record<string, unknown>> | undefined): string {
  const wrote = typeof call?.file_path === 'string' && status !== 'error'
  return wrote ? `The report is in \`${String(call.file_path).slice(1)}\`, beside this conversation.` : text
}

/** Calls the deep agent's tool that writes a file, if the request asks for a report. */
function reportOf(request: string): Reply | undefined {
  const [, topic] = /\breport (?:about|on) ([\w -]+)/i.exec(request) ?? []
  if (topic === undefined) return undefined
  const found = searchLibrary(topic)
  const name = topic.trim().toLowerCase().replace(/\W+/g, '-')
  const chapters = found.map(({ title, excerpt, file }) => `## ${title}\n\n${excerpt}\n\n*From ${file}.*`)
  const content = [`# Report: ${topic.trim()}`, ...chapters].join('\n\n')
  return {
    text: `I write what the library has about ${topic.trim()} into a file.`,
    calls: [{ name: 'write_file', args: { file_path: `/${name}.md`, content } }],
  }
}

/** The subagent tasks in one part of a request. */
function tasksOf(part: string): readonly { readonly subagent_type: string; readonly description: string }[] {
  const { expression, question } = split(part)
  return [
    ...(question === undefined ? [] : [{ subagent_type: 'researcher', description: question }]),
    ...(expression === undefined
      ? []
      : [{ subagent_type: 'math-whiz', description: `Compute ${expression}` }]),
  ]
}

/** A researcher: asks the user if it was told to, searches once, then reports what it found and where. */
export const research: Script = (messages) => {
  const { request, results } = lastTurn(messages)
  const [topic = '', ...rest] = request.split(/\band ask me\b/i)
  const asks = rest.length > 0
  if (asks && results.length === 0)
    return { calls: [{ name: 'ask_user', args: { question: 'What would you like to know about it?' } }] }
  const [query, found] = asks ? [results[0]!.text, results[1]] : [topic, results[0]]
  if (found === undefined) return { calls: [{ name: 'search', args: { query } }] }
  const [best, ...others] = JSON.parse(found.text) as Finding[]
  if (best === undefined) return { text: 'I searched the bundled pages and found nothing about that.' }
  const more =
    others.length > 0 ? ` See also ${others.map((other) => `“${other.title}”`).join(' and ')}.` : ''
  return { text: `${best.excerpt} (From “${best.title}”.)${more}` }
}

/** A mathematician: leaves every calculation to the calculator. */
export const compute: Script = (messages) => {
  const { request, results } = lastTurn(messages)
  const [result] = results
  if (result !== undefined) return { text: result.text.startsWith('Error') ? result.text : `${result.text}.` }
  const expression = findArithmetic(request)?.expression ?? request
  return { calls: [{ name: 'calculator', args: { expression } }] }
}

/** A secretary: writes a mail to each address in the request. The tool waits for approval. */
export const correspond: Script = (messages) => {
  const { request, results, calls } = lastTurn(messages)
  const found = [...request.matchAll(/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g)]
  const last = found.at(-1)
  if (last === undefined) return { text: 'To whom? Try: Email ada@example.com that lunch is at noon.' }
  const addresses = found.map(([address]) => address)
  // If one mail is rejected, LangChain drops the others that were approved with it. The script calls for them
  // again.
  const left =
    results.length < addresses.length ? addresses.filter((to) => !calls.some((call) => call.to === to)) : []
  if (left.length === 0) return { text: outcome(results) }
  const about = request
    .slice(last.index + last[0].length)
    .replace(/^\W*(?:that|about|to say)?\s*/i, '')
    .trim()
  const body = about === '' ? 'Hello!' : `${about[0]!.toUpperCase()}${about.slice(1)}`
  const subject = body.split(/\s+/).slice(0, 5).join(' ')
  return {
    text: `I will write to ${left.join(' and ')}.`,
    calls: left.map((to) => ({ name: 'send_email', args: { to, subject, body } })),
  }
}

/** Names a conversation after the heading of the answer, otherwise after the subject of the question. */
export const entitle: Script = (messages) => {
  const [, question = '', answer = ''] =
    /^Question: (.*?)\n\nAnswer: (.*)$/s.exec(lastTurn(messages).request) ?? []
  return { text: headingOf(answer) ?? topicOf(question) }
}

/** The first heading of a Markdown text, without marks. Code may have lines that look like one. */
function headingOf(markdown: string): string | undefined {
  const [, heading] = /^ {0,3}#{1,3} +(.+?)[ #]*$/m.exec(markdown.replace(/^```[\s\S]*?^```/gm, '')) ?? []
  return heading?.replace(/[*_`]/g, '')
}

/** The phrases that a request starts with before its subject. */
const OPENING =
  /^(?:please|tell me(?: about)?|show me|give me|draw|write|what (?:is|are)|who is|how does|an?|the)\s+/i

function topicOf(question: string): string {
  const parts = question.split(/(?:,\s*|\s+)and\s+(?=what|who|how|tell|show|why)|;\s*/i).map(withoutOpening)
  const topic = parts.join(' and ')
  return topic.charAt(0).toUpperCase() + topic.slice(1)
}

function withoutOpening(text: string): string {
  const rest = text.trim().replace(OPENING, '').replace(/\?$/, '')
  return rest === text.trim() ? rest : withoutOpening(rest)
}

interface Result {
  readonly text: string
  readonly status: string | undefined
}

function outcome(results: readonly Result[]): string {
  const lines = results.map(({ text, status }) =>
    status === 'error' ? 'All right, I did not send it.' : text,
  )
  return lines.length === 1 ? lines[0]! : lines.map((line) => `- ${line}`).join('\n')
}

interface Turn {
  /** The user's last message. */
  readonly request: string
  /** Its attachments, in Markdown. Empty if there are none. */
  readonly attachments: string
  /** The arguments of the calls since then. */
  readonly calls: readonly Readonly<Record<string, unknown>>[]
  /** The results of tools. */
  readonly results: readonly Result[]
}

function lastTurn(messages: readonly BaseMessage[]): Turn {
  const at = messages.findLastIndex((message) => message.getType() === 'human')
  const since = messages.slice(at + 1)
  const human = messages[at]
  return {
    request: human?.text ?? '',
    attachments: human ? describeAttachments(human) : '',
    calls: since
      .flatMap((message) => (AIMessage.isInstance(message) ? (message.tool_calls ?? []) : []))
      .map(({ args }) => args),
    results: since.filter(ToolMessage.isInstance).map(({ text, status }) => ({ text, status })),
  }
}

/**
 * The arithmetic of a request, and its question: the rest, if it has a question word and something to look
 * up.
 */
function split(request: string): { readonly expression?: string; readonly question?: string } {
  const found = findArithmetic(request)
  const clauses = (found?.rest ?? request)
    .split(/[,;.?!]|\band\b/)
    .map((clause) => clause.replace(/\s+/g, ' ').trim())
  const question = clauses
    .filter((clause) => stems(clause).length > 0 || /\bask me\b/i.test(clause))
    .join(' and ')
  const asks =
    /\b(?:what|who|why|how|when|where|which|explain|research|tell me|look up|find|search|describe)\b/i.test(
      question,
    )
  return { ...(found && { expression: found.expression }), ...(asks && { question }) }
}
