import { useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import {
  createAgentClient,
  searchThreads,
  useAgentStream,
  useOpenThread,
  useQueue,
  useReachable,
  useThread,
  useThreads,
  useUploads,
} from '../../src/clients/react/index.ts'

const query = new URLSearchParams(location.search)
const client = createAgentClient({ apiUrl: query.get('api') ?? '' })

/** A page as others write it: a list of threads and a conversation, whose thread `useOpenThread` keeps in the address. */
function Page() {
  const { threadId, key, open, openNew, onThreadId } = useOpenThread(query.has('own') ? null : undefined)
  useEffect(() => {
    if (key === 0) Object.assign(window, { late: onThreadId })
  }, [key, onThreadId])
  return (
    <>
      <button type="button" onClick={openNew}>
        New chat
      </button>
      <Threads open={open} />
      <Chat key={key} threadId={threadId} onThreadId={onThreadId} />
    </>
  )
}

function Threads({ open }: { readonly open: (id: string) => void }) {
  const { entries, isLoaded } = useThreads(client)
  const [words, setWords] = useState('')
  return (
    <nav aria-busy={!isLoaded}>
      <input aria-label="Search" value={words} onChange={({ target }) => setWords(target.value)} />
      <ul aria-label="Threads">
        {searchThreads(entries, words).map(({ id, title }) => (
          <Row key={id} id={id} title={title} open={open} />
        ))}
      </ul>
    </nav>
  )
}

interface RowProps {
  readonly id: string
  readonly title: string
  readonly open: (id: string) => void
}

function Row({ id, title, open }: RowProps) {
  const [removal, setRemoval] = useState<ReturnType<typeof client.threads.remove>>()
  const remove = (): void => {
    const removal = client.threads.remove(id)
    setRemoval(removal)
    Object.assign(window, { removal })
  }
  return (
    <li data-removed={removal !== undefined}>
      {title}
      <button type="button" aria-label={`Open ${title}`} onClick={() => open(id)} />
      <button type="button" onClick={() => client.threads.rename(id, `${title}!`)}>
        Rename
      </button>
      <button type="button" onClick={remove}>
        Remove
      </button>
    </li>
  )
}

interface ChatProps {
  readonly threadId: string | undefined
  readonly onThreadId: (id: string) => void
}

function Chat({ threadId, onThreadId }: ChatProps) {
  const { stream, isRunning, isAsking, stop, answer } = useAgentStream(client, { threadId, onThreadId })
  const thread = useThread(client, stream.threadId)
  const queue = useQueue(stream)
  const uploads = useUploads({ maxBytes: 10 })
  const [problems, setProblems] = useState('')
  const isReachable = useReachable(client)
  const send = (form: FormData): void => {
    const content = uploads.contentOf(String(form.get('text')))
    uploads.clear()
    void stream.submit({ messages: [{ type: 'human', content }] }, { multitaskStrategy: 'enqueue' })
  }
  const add = async (files: readonly File[]): Promise<void> =>
    setProblems((await uploads.add(files)).map(({ name, reason }) => `${name}: ${reason}`).join())
  return (
    <main>
      <p role="status">
        {isAsking ? 'asking' : isRunning ? 'running' : 'idle'}
        {isReachable ? '' : ', away'}
      </p>
      <h1>{thread?.title}</h1>
      <ol aria-label="Messages">
        {stream.messages.map(({ id, text }) => (
          <li key={id}>{text}</li>
        ))}
      </ol>
      {queue.map(({ id, text, remove }) => (
        <button key={id} type="button" onClick={() => remove()}>
          Queued: {text}
        </button>
      ))}
      <form action={send}>
        <input name="text" aria-label="Message" />
      </form>
      <input type="file" multiple aria-label="Files" onChange={({ target }) => add([...target.files!])} />
      <output>{uploads.uploads.map(({ name, kind }) => `${name} (${kind})`).join()}</output>
      <output>{problems}</output>
      <button type="button" onClick={() => stop()}>
        Stop
      </button>
      <button
        type="button"
        onClick={() => answer(Object.fromEntries(stream.interrupts.map(({ id }) => [id, 'tea'])))}
      >
        Answer
      </button>
    </main>
  )
}

createRoot(document.body.appendChild(document.createElement('div'))).render(<Page />)
