import type { BaseMessage } from '@langchain/core/messages'
import { findArithmetic } from './calculate.ts'
import { type Finding, stems } from './library.ts'
import type { Script } from './scripted-model.ts'

/** The coordinator: hands arithmetic and questions to its subagents, at the same time when there are both. */
export const coordinate: Script = (messages, tools) => {
  const { request, results } = lastTurn(messages)
  if (results.length > 0) return { text: results.map((result) => result.text).join('\n\n') }
  if (/\bstory\b/i.test(request)) return { text: STORY }
  const { expression, question } = split(request)
  const tasks = [
    ...(question === undefined ? [] : [{ subagent_type: 'researcher', description: question }]),
    ...(expression === undefined
      ? []
      : [{ subagent_type: 'math-whiz', description: `Compute ${expression}` }]),
  ]
  if (tasks.length === 0 || !tools.includes('task')) return { text: GREETING }
  const names = tasks.map((task) => task.subagent_type).join(' and ')
  return { text: `Let me ask the ${names}.`, calls: tasks.map((args) => ({ name: 'task', args })) }
}

/** A researcher: searches once, then reports what it found and where. */
export const research: Script = (messages) => {
  const { request, results } = lastTurn(messages)
  const [result] = results
  if (result === undefined) return { calls: [{ name: 'search', args: { query: request } }] }
  const [best, ...others] = JSON.parse(result.text) as Finding[]
  if (best === undefined) return { text: 'I searched the bundled pages and found nothing about that.' }
  const more =
    others.length > 0 ? ` See also ${others.map((other) => `“${other.title}”`).join(' and ')}.` : ''
  return { text: `${best.excerpt} (From “${best.title}”.)${more}` }
}

/** A mathematician: leaves every sum to the calculator. */
export const compute: Script = (messages) => {
  const { request, results } = lastTurn(messages)
  const [result] = results
  if (result !== undefined) return { text: result.text.startsWith('Error') ? result.text : `${result.text}.` }
  const expression = findArithmetic(request)?.expression ?? request
  return { calls: [{ name: 'calculator', args: { expression } }] }
}

/** A secretary: writes one letter when it knows the address. The tool waits for approval. */
export const correspond: Script = (messages) => {
  const { request, results } = lastTurn(messages)
  const [result] = results
  if (result !== undefined)
    return { text: result.status === 'error' ? 'All right, I did not send it.' : result.text }
  const to = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/.exec(request)?.[0]
  if (to === undefined) return { text: 'To whom? Try: Email ada@example.com that lunch is at noon.' }
  const about = request
    .slice(request.indexOf(to) + to.length)
    .replace(/^\W*(?:that|about|to say)?\s*/i, '')
    .trim()
  const body = about === '' ? 'Hello!' : `${about[0]!.toUpperCase()}${about.slice(1)}`
  const subject = body.split(/\s+/).slice(0, 5).join(' ')
  return { text: `I will write to ${to}.`, calls: [{ name: 'send_email', args: { to, subject, body } }] }
}

interface Turn {
  /** The newest words of the user. */
  readonly request: string
  /** What tools have answered since. */
  readonly results: readonly { readonly text: string; readonly status: string | undefined }[]
}

function lastTurn(messages: readonly BaseMessage[]): Turn {
  const at = messages.findLastIndex((message) => message.getType() === 'human')
  const results = messages.slice(at + 1).filter((message) => message.getType() === 'tool')
  return {
    request: messages[at]?.text ?? '',
    results: results.map((message) => ({
      text: message.text,
      status: (message as { status?: string }).status,
    })),
  }
}

/** The arithmetic of a request, and its question: what is left that has a question word and something to look up. */
function split(request: string): { readonly expression?: string; readonly question?: string } {
  const found = findArithmetic(request)
  const clauses = (found?.rest ?? request)
    .split(/[,;.?!]|\band\b/)
    .map((clause) => clause.replace(/\s+/g, ' ').trim())
  const question = clauses.filter((clause) => stems(clause).length > 0).join(' and ')
  const asks =
    /\b(?:what|who|why|how|when|where|which|explain|research|tell me|look up|find|search|describe)\b/i.test(
      question,
    )
  return { ...(found && { expression: found.expression }), ...(asks && { question }) }
}

const GREETING =
  'Hello! I am a deep agent with two helpers. Ask me something to compute (12 * (3 + 4)), something to research (what is a ' +
  'checkpoint?), or both in one sentence, and watch them work side by side. Or ask for a story, and stop me in the middle.'

const STORY = [
  'Once there was a stream that nobody could hold. It rose in the hills as a single word, and every word after it wanted to be',
  'first. The people of the valley built a pipe for it, and when the pipe broke, as pipes do, they stood at the mended end and',
  'asked what they had missed. Nobody knew. So a miller began to number the drops. He wrote each one into a ledger before he let',
  'it pass, and he never wrote two with one number. When a traveller came late, the miller read to him from the ledger, and when',
  'he had read the last line he simply pointed at the water, and the traveller could not say where the ledger had ended and the',
  'stream begun. When a traveller fell asleep, the miller did not wait for him, nor fill buckets on his behalf. He left a thread',
  'between the pages where the man had nodded off, and that was all it cost. Years went by. The mill burned and was rebuilt, and',
  'the ledger, which lay elsewhere, was still true. And if you ask in that valley who was the most important among the travellers,',
  'they will tell you: the one who asked the miller to stop, for the miller put down his pen at once, wrote “stopped here” under',
  'the last line, and went home for supper.',
].join(' ')
