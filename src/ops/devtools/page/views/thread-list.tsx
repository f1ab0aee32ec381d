/** @jsxImportSource preact */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ThreadRow, ThreadsPage } from '../../wire.ts'
import { go, moveKeys, routeTo, useKeys, useNow, usePolled } from '../data/hooks.ts'
import { agoText, shortId } from '../model/text.ts'
import { Empty, Problem, Select, Status } from './parts.tsx'

const PAGE = 50
/** How often the list is asked for: it costs the server one page. A search looks at many threads. */
const POLL_MS = 2_000
const SEARCH_POLL_MS = 10_000
/** Searches wait until nobody has typed for this long. */
const TYPING_MS = 250

const STATUSES = [
  ['', 'any status'],
  ['busy', 'running'],
  ['interrupted', 'interrupted'],
  ['error', 'error'],
  ['idle', 'idle'],
] as const

export function ThreadList({ openId, tab }: { readonly openId: string | undefined; readonly tab: string }) {
  const [text, setText] = useState('')
  const [status, setStatus] = useState('')
  const [page, setPage] = useState(0)
  const search = useSettled(text, TYPING_MS)
  const field = useRef<HTMLInputElement>(null)
  const query = new URLSearchParams({ limit: `${PAGE}`, offset: `${page * PAGE}`, status, search })
  const { data, error } = usePolled<ThreadsPage>(
    `/threads?${query}`,
    search === '' ? POLL_MS : SEARCH_POLL_MS,
  )
  const list = data?.threads ?? []
  const now = useNow(true)
  const openAt = list.findIndex(({ thread_id }) => thread_id === openId)
  const moves = moveKeys(list, openAt, ({ thread_id }) => go('threads', thread_id, tab))
  useKeys([
    ['/', () => field.current?.focus()],
    ...moves,
    ...moves.map(([key, move]) => [key.toUpperCase(), move] as const),
    ['Escape', () => go()],
  ])
  return (
    <nav class="threads stack" aria-label="Threads">
      <div class="filters line">
        <input
          ref={field}
          type="search"
          placeholder="Search threads  /"
          aria-label="Search threads by title, id, agent or metadata"
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value)
            setPage(0)
          }}
        />
        <Select
          label="Status"
          value={status}
          options={STATUSES}
          onChange={(value) => {
            setStatus(value)
            setPage(0)
          }}
        />
      </div>
      <a class="button new-thread" href={routeTo('new')}>
        New thread
      </a>
      {error && error.status > 0 && <Problem>{error.message}</Problem>}
      <ul>
        {list.map((thread) => (
          <Row
            key={thread.thread_id}
            thread={thread}
            isOpen={thread.thread_id === openId}
            tab={tab}
            now={now}
          />
        ))}
      </ul>
      {data && list.length === 0 && (
        <Empty>{text || status ? 'No thread is like this.' : 'There are no threads yet.'}</Empty>
      )}
      {!data && !error && <Empty>Loading…</Empty>}
      <Pager data={data} page={page} onPage={setPage} />
    </nav>
  )
}

interface PagerProps {
  readonly data: ThreadsPage | undefined
  readonly page: number
  readonly onPage: (page: number) => void
}

function Pager({ data, page, onPage }: PagerProps) {
  const pages = Math.max(1, Math.ceil((data?.total ?? 0) / PAGE))
  return (
    <footer class="line small dim">
      <button type="button" disabled={page === 0} onClick={() => onPage(page - 1)} aria-label="Newer threads">
        ‹
      </button>
      <span role="status">
        {data ? `${data.total.toLocaleString()} ${data.total === 1 ? 'thread' : 'threads'}` : ''}
        {data?.looked_at ? ` in the newest ${data.looked_at.toLocaleString()}` : ''}
        {pages > 1 ? ` · ${page + 1} of ${pages}` : ''}
      </span>
      <button
        type="button"
        disabled={page + 1 >= pages}
        onClick={() => onPage(page + 1)}
        aria-label="Older threads"
      >
        ›
      </button>
    </footer>
  )
}

interface RowProps {
  readonly thread: ThreadRow
  readonly isOpen: boolean
  readonly tab: string
  readonly now: number
}

function Row({ thread, isOpen, tab, now }: RowProps) {
  const { thread_id, title, status, assistant_id, updated_at, queued, interrupts } = thread
  const link = useRef<HTMLAnchorElement>(null)
  useEffect(() => {
    if (isOpen) link.current?.scrollIntoView({ block: 'nearest' })
  }, [isOpen])
  return (
    <li>
      <a ref={link} href={routeTo('threads', thread_id, tab)} aria-current={isOpen ? 'page' : undefined}>
        <span class="title cut">{title ?? shortId(thread_id)}</span>
        <span class="about line small dim">
          <Status status={status} />
          {queued > 0 && <span class="badge">{queued} waiting</span>}
          {interrupts > 0 && <span class="badge warn">{interrupts} to answer</span>}
          <span class="agent cut">{assistant_id}</span>
          <time dateTime={new Date(updated_at).toISOString()}>{agoText(now - updated_at)}</time>
        </span>
      </a>
    </li>
  )
}

/** A value once it has not changed for a while. */
function useSettled(value: string, ms: number): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}
