import { type FormEvent, type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react'
import { type AgentClient, useAgentStream } from '../../../clients/react/index.ts'
import { AGENTS, type DemoAgent } from '../hints.ts'
import { Markdown } from './markdown.tsx'

interface ConversationProps {
  readonly client: AgentClient
  readonly threadId: string | undefined
  readonly onThreadId: (threadId: string) => void
  /** The agent of a new chat. */
  readonly agent: DemoAgent
  readonly onAgent: (agent: DemoAgent) => void
}

/** The messages of a thread, the questions of its agent, and a field to write in. */
export function Conversation({ client, threadId, onThreadId, agent, onAgent }: ConversationProps) {
  const { stream, isRunning, isAsking, stop, answer } = useAgentStream(client, {
    threadId,
    onThreadId,
    // A thread keeps its agent.
    ...(threadId === undefined && { assistantId: agent.name }),
  })
  const messages = stream.messages as readonly ShownMessage[]
  const log = useEnd()
  const say = (text: string) => {
    const [question] = isAsking ? stream.interrupts : []
    if (question?.id !== undefined && inWords(question.value)) void answer({ [question.id]: text })
    else void stream.submit({ messages: [{ type: 'human', content: text }] })
  }
  const isNew = threadId === undefined && messages.length === 0
  return (
    <>
      <div className="log" ref={log} role="log" aria-label="Messages">
        {isNew && <Hints agent={agent} onAgent={onAgent} onChoose={say} />}
        {messages.map((message, at) => (
          <Message key={message.id ?? at} message={message} all={messages} />
        ))}
        {isAsking &&
          stream.interrupts.map(({ id, value }) => (
            <Question key={id} value={value} onAnswer={(given) => void answer({ [id!]: given })} />
          ))}
        {stream.error ? <p role="alert">{wordsOf(stream.error)}</p> : null}
      </div>
      <Composer isRunning={isRunning} onSend={say} onStop={() => void stop()} />
    </>
  )
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

interface HintsProps {
  readonly agent: DemoAgent
  readonly onAgent: (agent: DemoAgent) => void
  readonly onChoose: (text: string) => void
}

function Hints({ agent, onAgent, onChoose }: HintsProps) {
  return (
    <section className="hints" aria-label="Messages to try">
      <label>
        Agent{' '}
        <select
          value={agent.name}
          onChange={({ currentTarget }) => onAgent(AGENTS[currentTarget.selectedIndex] ?? agent)}
        >
          {AGENTS.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      {agent.hints.map((hint) => (
        <button key={hint} type="button" onClick={() => onChoose(hint)}>
          {hint}
        </button>
      ))}
    </section>
  )
}

interface ComposerProps {
  readonly isRunning: boolean
  readonly onSend: (text: string) => void
  readonly onStop: () => void
}

function Composer({ isRunning, onSend, onStop }: ComposerProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const send = (event: FormEvent) => {
    event.preventDefault()
    const text = field.current!.value.trim()
    if (isRunning || text === '') return
    field.current!.value = ''
    onSend(text)
  }
  return (
    <form onSubmit={send}>
      <textarea ref={field} rows={2} aria-label="Message" placeholder="Message" onKeyDown={sendOnEnter} />
      {isRunning ? (
        <button type="button" onClick={onStop}>
          Stop
        </button>
      ) : (
        <button type="submit">Send</button>
      )}
    </form>
  )
}

/** Enter does not send while it completes a word of an input method. */
function sendOnEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
  event.preventDefault()
  event.currentTarget.form!.requestSubmit()
}

/** A part that stays at its end while more comes, unless somebody has scrolled up. */
function useEnd() {
  const part = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useLayoutEffect(() => {
    const { current } = part
    const note = () => {
      isAtEnd.current = current!.scrollHeight - current!.scrollTop - current!.clientHeight < 40
    }
    current!.addEventListener('scroll', note, { passive: true })
    return () => current!.removeEventListener('scroll', note)
  }, [])
  useLayoutEffect(() => {
    if (isAtEnd.current) part.current!.scrollTop = part.current!.scrollHeight
  })
  return part
}

/** What the page shows of a message. */
interface ShownMessage {
  readonly id?: string | undefined
  readonly type: string
  readonly text: string
  /** The call that a tool's message answers. */
  readonly tool_call_id?: string
  readonly status?: string
  readonly tool_calls?: readonly {
    readonly id?: string
    readonly name: string
    readonly args: unknown
  }[]
}

interface MessageProps {
  readonly message: ShownMessage
  /** The thread, which has the results of the calls. */
  readonly all: readonly ShownMessage[]
}

/** A message with its tool calls. A tool's message is shown with the call that it answers. */
function Message({ message, all }: MessageProps) {
  const { type, text, tool_calls: calls = [] } = message
  if (type === 'tool') return null
  if (type === 'human') return <article className="human">{text}</article>
  return (
    <article className="ai">
      <Markdown text={text} />
      {calls.map(({ id, name, args }) => {
        const result = all.find((one) => one.tool_call_id === id)
        return (
          <details key={id}>
            <summary>
              <code>{name}</code> {stateOf(result)}
            </summary>
            <pre>{JSON.stringify(args, undefined, 2)}</pre>
            {result && <pre>{result.text}</pre>}
          </details>
        )
      })}
    </article>
  )
}

function stateOf(result: ShownMessage | undefined): string {
  if (result === undefined) return 'called'
  return result.status === 'error' ? 'failed' : 'done'
}

/** What tools that need approval ask: docs/approvals.md. */
interface Approval {
  readonly actionRequests: readonly {
    readonly name: string
    readonly args: Readonly<Record<string, unknown>>
  }[]
}

/** Whether the answer to a question is what the user writes. */
const inWords = (value: unknown): boolean => !(value as Partial<Approval> | null)?.actionRequests

type Decision = 'approve' | 'reject'

interface QuestionProps {
  readonly value: unknown
  readonly onAnswer: (answer: unknown) => void
}

/** A question of the agent: calls to decide on, or words that the next message answers. */
function Question({ value, onAnswer }: QuestionProps) {
  const { actionRequests, question } = (value ?? {}) as Partial<Approval> & { readonly question?: string }
  if (actionRequests)
    return (
      <Decisions
        requests={actionRequests}
        onDecided={(given) => onAnswer({ decisions: given.map((type) => ({ type })) })}
      />
    )
  return (
    <section aria-label="Question">
      <p>{question ?? JSON.stringify(value)}</p>
      <p className="faint">Your next message is the answer.</p>
    </section>
  )
}

interface DecisionsProps {
  readonly requests: Approval['actionRequests']
  readonly onDecided: (decisions: readonly Decision[]) => void
}

/** The answer is sent when each call has its decision. */
function Decisions({ requests, onDecided }: DecisionsProps) {
  const [decisions, setDecisions] = useState<Readonly<Record<number, Decision>>>({})
  const decide = (at: number, decision: Decision) => {
    const all = { ...decisions, [at]: decision }
    setDecisions(all)
    if (requests.every((_, at) => all[at])) onDecided(requests.map((_, at) => all[at]!))
  }
  return (
    <section aria-label="Question">
      {requests.map(({ name, args }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the requests of a question keep their places.
        <fieldset key={at} disabled={decisions[at] !== undefined}>
          <legend>
            Approve <code>{name}</code>?
          </legend>
          <pre>{JSON.stringify(args, undefined, 2)}</pre>
          <button type="button" onClick={() => decide(at, 'approve')}>
            Approve
          </button>
          <button type="button" onClick={() => decide(at, 'reject')}>
            Reject
          </button>
          {decisions[at] && (
            <span className="faint">{decisions[at] === 'approve' ? 'Approved' : 'Rejected'}</span>
          )}
        </fieldset>
      ))}
    </section>
  )
}
