import { useStream as useOlderStream } from '@langchain/langgraph-sdk/react'
import { useMessages, useStream, useSubmissionQueue } from '@langchain/react'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import type { Json } from '../kit/events.ts'

declare global {
  interface Window {
    /** What the hook gave last, for the test to call. */
    stream: Json
    /** What the hook's callbacks were called with, in order. */
    told: Json[]
    /** Opens a thread, or none. */
    openThread(id: string | null): void
  }
}

/** A page that shows what a hook of LangChain gives, as its address says: `hook`, `api`, `thread` and the hook's own `options`. */
const address = new URL(location.href)
const apiUrl = address.searchParams.get('api') ?? ''
const options: Json = JSON.parse(address.searchParams.get('options') ?? '{}')

window.told = []
const tell =
  (name: string) =>
  (...given: Json[]) =>
    void window.told.push([name, ...given.map((value) => JSON.parse(JSON.stringify(value ?? null)))])

/** The thread of the address, so that a reload opens it again. */
function useThread(): [string | null, (id: string | null) => void] {
  const [threadId, set] = useState(address.searchParams.get('thread'))
  window.openThread = (id) => {
    if (id === null) address.searchParams.delete('thread')
    else address.searchParams.set('thread', id)
    history.replaceState(null, '', address)
    set(id)
  }
  return [threadId, window.openThread]
}

const linesOf = (messages: readonly Json[]) =>
  messages.map(({ type, text, content }) => `${type}: ${text ?? content}`)

const messageOf = (error: unknown) => (error instanceof Error ? error.message : (error ?? null))

const Shown = (shown: Json) => <pre>{JSON.stringify(shown)}</pre>

/** The part of a subagent or of a subgraph. */
function Part({ stream, part }: { readonly stream: Json; readonly part: Json }) {
  const messages = useMessages(stream, part)
  return <p>{linesOf(messages).join(' | ')}</p>
}

function Newer() {
  const [threadId, setThreadId] = useThread()
  const stream: Json = useStream({
    apiUrl,
    assistantId: 'agent',
    transport: 'websocket',
    threadId,
    onThreadId: setThreadId,
    onReconnect: tell('onReconnect'),
    onCreated: tell('onCreated'),
    ...options,
  })
  const queue = useSubmissionQueue(stream)
  window.stream = { ...stream, queued: queue.entries, leave: queue.cancel }
  const parts: Json[] = [...stream.subagents.values(), ...stream.subgraphs.values()]
  return (
    <main>
      <Shown
        threadId={stream.threadId}
        loading={stream.isLoading}
        hydrating={stream.isThreadLoading}
        messages={linesOf(stream.messages)}
        values={stream.values}
        calls={stream.toolCalls.map((call: Json) => `${call.name} ${call.status}`)}
        interrupts={stream.interrupts.map(({ value }: Json) => value)}
        subagents={[...stream.subagents.values()].map(({ name, status }: Json) => `${name} ${status}`)}
        subgraphs={[...stream.subgraphsByNode.keys()]}
        queue={queue.entries.map(({ values }: Json) => values.messages[0].content)}
        error={messageOf(stream.error)}
      />
      {parts.map((part) => (
        <Part key={part.id} stream={stream} part={part} />
      ))}
    </main>
  )
}

const CALLBACKS = [
  'onUpdateEvent',
  'onCustomEvent',
  'onCheckpointEvent',
  'onTaskEvent',
  'onMetadataEvent',
  'onToolEvent',
]

function Older() {
  const [threadId, onThreadId] = useThread()
  const { callbacks = [], ...own } = options
  const stream: Json = useOlderStream({
    apiUrl,
    assistantId: 'agent',
    threadId,
    onThreadId,
    onCreated: tell('onCreated'),
    onFinish: own.fetchStateHistory ? tell('onFinish') : undefined,
    ...Object.fromEntries(
      CALLBACKS.filter((name) => callbacks.includes(name)).map((name) => [name, tell(name)]),
    ),
    ...own,
  })
  window.stream = stream
  const metadata: Json[] = stream.messages.map((message: Json, at: number) =>
    stream.getMessagesMetadata(message, at),
  )
  return (
    <Shown
      threadId={threadId}
      loading={stream.isLoading}
      hydrating={stream.isThreadLoading}
      messages={linesOf(stream.messages)}
      values={stream.values}
      calls={stream.toolCalls.map(({ call, state }: Json) => `${call.name} ${state}`)}
      interrupts={stream.interrupts.map(({ value, when }: Json) => value ?? when)}
      branches={metadata.map(
        (of) => `${(of?.branchOptions ?? []).indexOf(of?.branch) + 1}/${of?.branchOptions?.length ?? 0}`,
      )}
      nodes={metadata.map((of) => of?.streamMetadata?.langgraph_node ?? null)}
      states={own.fetchStateHistory ? stream.history.length : null}
      subagents={
        stream.subagents
          ? [...stream.subagents.values()].map(
              ({ toolCall, status }: Json) => `${toolCall.args.subagent_type} ${status}`,
            )
          : []
      }
      error={messageOf(stream.error)}
    />
  )
}

const Hook = address.searchParams.get('hook') === 'older' ? Older : Newer
createRoot(document.body.appendChild(document.createElement('div'))).render(<Hook />)
