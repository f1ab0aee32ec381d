import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import type { ThreadRecord } from 'agentwire'
import {
  createFace,
  type FaceCall,
  type FaceContext,
  type FaceSetup,
  json,
  requireThread,
  route,
} from 'agentwire/face'
import { decodeMessage, textOf } from 'agentwire/messages'

const PROMPT =
  'Give this conversation a title of two to six words, in its own language. Answer with the title alone, without quotation marks.'
const LONGEST = 60
/** The number of characters of a message that the model reads. */
const READ = 4_000
/** The number of threads whose titles a new title must differ from. */
const OTHERS = 200

interface TitleContext extends FaceContext {
  readonly model: BaseChatModel
  /** The titles in progress, by thread. Two pages may request one at the same time. */
  readonly making: Map<string, Promise<string | null>>
}

/**
 * `POST /threads/{thread_id}/title`: makes a model name a conversation after its first exchange, and returns
 * `{ title }`. Pages request it after a run has ended, so that no run waits for it. A page that shows a
 * thread without such a title requests it again, so nothing is lost if a page or a process ends. A title that
 * the user sets is `metadata.title`, which is separate and takes precedence.
 */
export const titles = (model: BaseChatModel) => (setup: FaceSetup) =>
  createFace<TitleContext>(setup, {
    routes: [route('POST', '/threads/:thread_id/title', { permission: 'threads:update', run: postTitle })],
    context: { model, making: new Map() },
  })

async function postTitle(context: TitleContext, call: FaceCall): Promise<Response> {
  const { making } = context
  const thread = await requireThread(context, call)
  const { threadId, title, metadata } = thread
  if (typeof metadata.title === 'string') return json({ title: metadata.title })
  if (metadata.titled_by !== undefined) return json({ title })
  if (!making.has(threadId)) {
    const made = makeTitle(context, call, thread).finally(() => making.delete(threadId))
    making.set(threadId, made)
  }
  return json({ title: await making.get(threadId) })
}

async function makeTitle(
  { engine, model }: TitleContext,
  { principal }: FaceCall,
  thread: ThreadRecord,
): Promise<string | null> {
  const { threadId } = thread
  const state = await engine.readState(thread)
  const [question, answer] = firstExchange(state?.values.messages)
  if (question === '' && answer === '') return thread.title
  // A failed run has no answer.
  const named = answer === '' ? undefined : await nameOf(model, question, answer)
  const taken = new Set<unknown>()
  for await (const other of engine.listThreads({ principal, limit: OTHERS }))
    if (other.threadId !== threadId) taken.add(other.metadata.title ?? other.title)
  const title = distinct(named ?? (shortened(question) || 'Untitled'), taken)
  // If the model returned no name, the next page that shows the thread requests it again.
  const metadata = named === undefined ? {} : { titled_by: 'model' }
  await engine.patchThread({ threadId, principal, title, metadata })
  return title
}

/** The text of the first question and its answer. Empty if there are none. */
function firstExchange(messages: unknown): readonly [question: string, answer: string] {
  const all = (Array.isArray(messages) ? messages : []).flatMap((message) => decodeMessage(message) ?? [])
  const start = all.findIndex(({ role }) => role === 'user')
  const [question, ...rest] = start < 0 ? [] : all.slice(start)
  const end = rest.findIndex(({ role }) => role === 'user')
  const answers = (end < 0 ? rest : rest.slice(0, end)).filter(({ role }) => role === 'assistant')
  return [question ? textOf(question) : '', answers.map(textOf).join('\n\n').trim()]
}

/** The model's title. Undefined if it returns none. */
async function nameOf(model: BaseChatModel, question: string, answer: string): Promise<string | undefined> {
  const exchange = `Question: ${question.slice(0, READ)}\n\nAnswer: ${answer.slice(0, READ)}`
  try {
    const { text } = await model.invoke([
      { role: 'system', content: PROMPT },
      { role: 'user', content: exchange },
    ])
    return shortened(text.replace(/^["“#*\s]+|["”*.\s]+$/g, '')) || undefined
  } catch (error) {
    console.warn('The model gave no title.', error)
    return undefined
  }
}

function shortened(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ')
  if (line.length <= LONGEST) return line
  const cut = line.slice(0, LONGEST)
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), LONGEST / 2)).trimEnd()}…`
}

/** “Coffee (2)” if “Coffee” is taken. */
function distinct(title: string, taken: ReadonlySet<unknown>): string {
  let number = 1
  const name = (): string => (number === 1 ? title : `${title} (${number})`)
  while (taken.has(name())) number++
  return name()
}
