import type { ThreadEntry } from 'agentwire/react'
import { type MouseEvent, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { hrefOf } from '../../lib/navigation.ts'
import { nameOf, timeName } from '../../lib/thread-list.ts'
import { useRename } from '../../lib/use-rename.ts'
import { ThreadMenu } from '../threads/thread-menu.tsx'
import { TitleField } from './title-field.tsx'

interface ThreadRowProps {
  readonly entry: ThreadEntry
  readonly isOpen: boolean
  readonly onOpen: () => void
  readonly onRemove: () => void
}

const MARKS = {
  busy: { className: 'animate-pulse bg-brand', text: 'Running' },
  interrupted: { className: 'bg-warn', text: 'Waits for you' },
  error: { className: 'bg-bad', text: 'Failed' },
  idle: undefined,
}

export function ThreadRow({ entry, isOpen, onOpen, onRemove }: ThreadRowProps) {
  const { id, updatedAt, status } = entry
  const title = nameOf(entry)
  const [isRenaming, setRenaming] = useState(false)
  const link = useRef<HTMLAnchorElement>(null)
  const rename = useRename()
  const mark = MARKS[status]

  const open = (event: MouseEvent): void => {
    // With these keys the browser opens another tab.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    onOpen()
  }
  const endRenaming = (wanted?: string): void => {
    flushSync(() => setRenaming(false))
    link.current?.focus()
    rename(entry, wanted)
  }
  if (isRenaming)
    return (
      <li>
        <TitleField title={title} onDone={endRenaming} />
      </li>
    )
  return (
    <li
      className={`group relative flex items-center rounded-lg pr-1 hover:bg-hover focus-within:bg-hover has-aria-expanded:bg-hover ${isOpen ? 'bg-hover' : ''}`}
    >
      <a
        ref={link}
        href={hrefOf(id)}
        aria-current={isOpen ? 'page' : undefined}
        onClick={open}
        className="flex min-w-0 flex-1 items-center gap-2 rounded-lg py-2 pr-2 pl-3 text-left text-sm group-focus-within:pr-10 group-hover:pr-10 group-has-aria-expanded:pr-10 pointer-coarse:pr-2! pointer-coarse:min-h-11"
      >
        {mark && (
          <span
            role="img"
            aria-label={mark.text}
            title={mark.text}
            className={`size-2 shrink-0 rounded-full ${mark.className}`}
          />
        )}
        <span dir="auto" className="min-w-0 flex-1 truncate" title={title}>
          {title}
        </span>
        <time
          dateTime={updatedAt.toISOString()}
          title={updatedAt.toLocaleString('en')}
          className="shrink-0 text-faint text-xs group-focus-within:hidden group-hover:hidden group-has-aria-expanded:hidden pointer-coarse:hidden"
        >
          {timeName(updatedAt)}
        </time>
      </a>
      {/* A mouse sees it over the row in the place of the time, the keyboard and a finger find it there. */}
      <ThreadMenu
        entry={entry}
        className="not-pointer-coarse:absolute not-pointer-coarse:right-0 not-pointer-coarse:opacity-0 focus-visible:opacity-100 group-hover:opacity-100"
        onRename={() => setRenaming(true)}
        onRemove={onRemove}
      />
    </li>
  )
}
