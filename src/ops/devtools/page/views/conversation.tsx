/** @jsxImportSource preact */
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { type ContentBlock, textOf } from '../../../../messages/index.ts'
import type { Folded } from '../../../../messages/thread-events/index.ts'
import type { ThreadDetail } from '../../wire.ts'
import { ask, threadPath } from '../data/api.ts'
import type { LiveLog } from '../data/use-log.ts'
import { messagesOf, type ShownCall, type ShownMessage } from '../model/conversation.ts'
import { Composer } from './composer.tsx'
import { InterruptsView } from './interrupts.tsx'
import { JsonTree } from './json-tree.tsx'
import { Action, Empty, RunProblem, Status } from './parts.tsx'

interface ConversationViewProps {
  readonly thread: ThreadDetail
  readonly live: LiveLog
  readonly onDone: () => void
}

/** The messages of a thread as people read them, with its questions, and a box to go on. */
export function ConversationView({ thread, live: { conversation, version }, onDone }: ConversationViewProps) {
  // The conversation changes in place: its version says when.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const folded = useMemo(() => conversation.read(), [conversation, version])
  const messages = messagesOf(folded)
  const scroll = useStickToEnd(version)
  const { thread_id, active_run_id: active } = thread
  const stop = async () => {
    await ask(`${threadPath(thread_id)}/runs/${active}/cancel`, {})
    onDone()
  }
  return (
    <div class="conversation stack">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls is reached by the keyboard */}
      <div class="messages" ref={scroll} tabIndex={0} role="log" aria-label="Messages">
        {messages.length === 0 && <Empty>{noMessages(thread)}</Empty>}
        {messages.map((shown) => (
          <MessageView key={shown.key} shown={shown} folded={folded} />
        ))}
        {thread.error && <RunProblem message={thread.error} />}
        {thread.open_interrupts.length > 0 && <InterruptsView thread={thread} onDone={onDone} />}
        {active !== null && (
          <p class="line">
            <Status status="busy" />
            <Action kind="danger" run={stop}>
              Stop
            </Action>
          </p>
        )}
      </div>
      {asks(thread) ? (
        <p class="composer dim">
          Answer the question above to go on, or fork from an earlier checkpoint in State.
        </p>
      ) : (
        <Composer threadId={thread_id} assistantId={thread.assistant_id} onStarted={onDone} />
      )}
    </div>
  )
}

/** The protocol takes an input for the answer to an open question, except after a failure. */
const asks = ({ open_interrupts, error }: ThreadDetail): boolean =>
  open_interrupts.length > 0 && error === null

function noMessages({ active_run_id, log }: ThreadDetail): string {
  if (log.head === 0) return 'Nothing has happened in this thread yet.'
  if (active_run_id !== null) return 'The run has no messages yet. Its events are in Log.'
  return 'This thread has no messages. Its values are in State, its events in Log.'
}

const WHO: Readonly<Record<string, string>> = { user: 'User', assistant: 'Agent', system: 'System' }

interface MessageViewProps {
  readonly shown: ShownMessage
  readonly folded: Folded
}

function MessageView({ shown: { message, calls, isFinished }, folded }: MessageViewProps) {
  const { usage, name } = message
  return (
    <section class={`message ${message.role}`} aria-label={`${WHO[message.role] ?? message.role} message`}>
      <header class="line small dim">
        <strong>{WHO[message.role] ?? message.role}</strong>
        {name && <span>{name}</span>}
        {!isFinished && <span>writing…</span>}
        {usage && <span class="number">{usage.totalTokens.toLocaleString()} tokens</span>}
      </header>
      {message.content.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the blocks of a message keep their places
        <BlockView key={index} block={block} />
      ))}
      {calls.map((call) => (
        <CallView key={call.id} shown={call} folded={folded} />
      ))}
    </section>
  )
}

function BlockView({ block }: { readonly block: ContentBlock }) {
  switch (block.type) {
    case 'text':
      return <p class="text">{block.text}</p>
    case 'reasoning':
      return (
        <details class="reasoning">
          <summary class="dim">Reasoning</summary>
          <p class="text dim">{block.text}</p>
        </details>
      )
    case 'toolCall':
    case 'serverToolCall':
    case 'invalidToolCall':
      return null
    default:
      return <JsonTree value={block} open={1} />
  }
}

function CallView({ shown, folded }: { readonly shown: ShownCall; readonly folded: Folded }) {
  const { id, name, input, call, result } = shown
  const inner = messagesOf(folded, id)
  const output = call?.error ?? (result ? textOf(result) : call?.output)
  return (
    <details class="call" open={inner.length > 0}>
      <summary class="line">
        <code>{name}</code>
        <Status status={statusOf(shown)} />
      </summary>
      <JsonTree value={input} open={2} />
      {inner.length > 0 && (
        <div class="inner">
          {inner.map((one) => (
            <MessageView key={one.key} shown={one} folded={folded} />
          ))}
        </div>
      )}
      {output && <p class="text output">{output}</p>}
    </details>
  )
}

function statusOf({ call, result }: ShownCall): string {
  if (call?.status === 'failed' || result?.status === 'error') return 'failed'
  return result ? 'completed' : call ? 'busy' : 'pending'
}

/** A part that stays at its end while more comes, unless somebody has scrolled up. */
function useStickToEnd(version: number) {
  const part = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    const { current } = part
    const note = () => {
      isAtEnd.current = current!.scrollHeight - current!.scrollTop - current!.clientHeight < 40
    }
    current!.addEventListener('scroll', note, { passive: true })
    return () => current!.removeEventListener('scroll', note)
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is drawn has changed with the version
  useEffect(() => {
    if (isAtEnd.current) part.current!.scrollTop = part.current!.scrollHeight
  }, [version])
  return part
}
