import { searchThreads, useThreads } from 'agentwire/react'
import { useEffect, useRef } from 'react'
import { agents } from '../../lib/client.ts'
import { wordsOf } from '../../lib/errors.ts'
import type { Navigation } from '../../lib/navigation.ts'
import { byDay } from '../../lib/thread-list.ts'
import { useRemove } from '../../lib/use-remove.ts'
import { ThreadRow } from './thread-row.tsx'

interface ThreadListProps {
  /** Words that the titles must contain. Empty: all threads. */
  readonly query: string
  readonly navigation: Navigation
}

export function ThreadList({ query, navigation }: ThreadListProps) {
  const { entries, isLoaded, hasMore, error } = useThreads(agents)
  const list = useRef<HTMLDivElement>(null)
  const remove = useRemove(navigation)
  const found = query === '' ? entries : searchThreads(entries, query)
  return (
    <div ref={list} tabIndex={-1} className="min-h-0 flex-1 overflow-y-auto outline-none">
      {byDay(found).map(({ name, entries }) => (
        <section key={name} aria-label={name}>
          <h2 className="px-3 pt-3 pb-1 font-medium text-faint text-xs">{name}</h2>
          <ul>
            {entries.map((entry) => (
              <ThreadRow
                key={entry.id}
                entry={entry}
                isOpen={entry.id === navigation.threadId}
                onOpen={() => navigation.open(entry.id)}
                onRemove={() => {
                  list.current?.focus()
                  remove(entry)
                }}
              />
            ))}
          </ul>
        </section>
      ))}
      {error && (
        <p role="alert" className="px-3 py-2 text-sm">
          The threads could not be read: {wordsOf(error)}
        </p>
      )}
      <p role="status" className="px-3 py-2 text-faint text-sm">
        {isLoaded && found.length === 0 && (query === '' ? 'No threads yet.' : 'No title has these words.')}
        {query !== '' && found.length > 0 && `${found.length} found`}
      </p>
      {hasMore && query === '' && <More />}
    </div>
  )
}

/** Loads the next page of threads when it scrolls into view. */
function More() {
  const end = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) void agents.threads.loadMore()
    })
    observer.observe(end.current!)
    return () => observer.disconnect()
  }, [])
  return (
    <p ref={end} className="px-3 pb-3 text-faint text-sm">
      Loading…
    </p>
  )
}
