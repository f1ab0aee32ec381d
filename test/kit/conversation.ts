import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { expireLease } from '../../src/storage/coordination/leases.ts'
import { engineOf } from './engine.ts'
import type { Place } from './shared.ts'

/** What happens in the second step of a run whose message has this text. */
export type OnAnswer = (text: string, signal: AbortSignal) => void | Promise<void>

/** Hears every message in one step, and answers it in the next one. */
const graphOf = (onAnswer: OnAnswer) =>
  new StateGraph(MessagesAnnotation)
    .addNode('hear', ({ messages }) => ({
      messages: [{ role: 'ai', content: `heard ${messages.at(-1)!.text}` }],
    }))
    .addNode('answer', async ({ messages }, { signal }) => {
      const { text } = messages.at(-2)!
      await onAnswer(text, signal!)
      return { messages: [{ role: 'ai', content: `answer to ${text}` }] }
    })
    .addEdge('__start__', 'hear')
    .addEdge('hear', 'answer')
    .compile()

/** The texts of a state in which these messages were heard and answered. */
export const answersTo = (...inputs: readonly string[]) =>
  inputs.flatMap((text) => [text, `heard ${text}`, `answer to ${text}`])

/** Waits until the run is stopped. */
export const untilStopped = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))

/** An instance whose agent `a` answers messages. What a process reports that is lost, it has to. */
export const instance = (place: Place, leaseTtlMs: number, onAnswer: OnAnswer) =>
  engineOf({ a: langgraph(graphOf(onAnswer)) }, { ...place, leaseTtlMs, onError: () => {} })

export type Instance = ReturnType<typeof instance>

export const say = (engine: Instance, threadId: string, text: string) =>
  engine.start({ threadId, assistantId: 'a', input: { messages: [{ role: 'human', content: text }] } })

/** The messages of a thread's state. */
export async function textsOf(engine: Instance, threadId: string): Promise<readonly string[]> {
  const thread = await engine.findThread({ threadId })
  const state = await engine.readState(thread!)
  return ((state?.values.messages ?? []) as readonly { readonly content: string }[]).map(
    ({ content }) => content,
  )
}

/** Lets the lease of a thread expire, as that of a lost process does in time. */
export async function expire({ store }: Place, threadId: string): Promise<void> {
  const { lease } = await store.inspect(threadId)
  if (lease) await expireLease(store, threadId, lease.token)
}
