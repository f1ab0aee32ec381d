import { Pencil, Trash2 } from 'lucide-react'
import { type MouseEvent, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { hrefOf } from '../../lib/navigation.ts'
import { type ThreadEntry, timeName } from '../../lib/thread-list.ts'
import { renameThread } from '../../lib/threads.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { useToast } from '../ui/toasts.tsx'
import { TitleField } from './title-field.tsx'

interface ThreadRowProps {
  readonly entry: ThreadEntry
  readonly isOpen: boolean
  readonly onOpen: () => void
  readonly onRemove: () => void
}

const MARKS = {
  busy: { className: 'animate-pulse bg-accent', text: 'Running' },
  interrupted: { className: 'bg-warn', text: 'Waits for you' },
  error: { className: 'bg-bad', text: 'Failed' },
  idle: undefined,
}

export function ThreadRow({ entry, isOpen, onOpen, onRemove }: ThreadRowProps) {
  const { id, title, updatedAt, status } = entry
  const [isRenaming, setRenaming] = useState(false)
  const link = useRef<HTMLAnchorElement>(null)
  const toast = useToast()
  const mark = MARKS[status]

  const open = (event: MouseEvent): void => {
    // With these keys the browser opens another tab.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    onOpen()
  }
  const endRenaming = (wanted = title): void => {
    flushSync(() => setRenaming(false))
    link.current?.focus()
    if (wanted === title) return
    renameThread(id, wanted).catch(() => toast({ text: 'The thread could not be renamed.' }))
  }
  if (isRenaming)
    return (
      <li>
        <TitleField title={title} onDone={endRenaming} />
      </li>
    )
  return (
    <li
      className={`group relative flex items-center rounded-lg hover:bg-hover focus-within:bg-hover ${isOpen ? 'bg-hover' : ''}`}
    >
      <a
        ref={link}
        href={hrefOf(id)}
        aria-current={isOpen ? 'page' : undefined}
        onClick={open}
        className="flex min-w-0 flex-1 items-center gap-2 rounded-lg px-3 py-2 text-left text-sm"
      >
        {mark && (
          <span
            role="img"
            aria-label={mark.text}
            title={mark.text}
            className={`size-2 shrink-0 rounded-full ${mark.className}`}
          />
        )}
        <span className="min-w-0 flex-1 truncate" title={title}>
          {title}
        </span>
        <time
          dateTime={updatedAt.toISOString()}
          title={updatedAt.toLocaleString('en')}
          className="shrink-0 text-faint text-xs pointer-coarse:invisible"
        >
          {timeName(updatedAt)}
        </time>
      </a>
      <span className="absolute right-0 flex rounded-lg bg-hover opacity-0 focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100">
        <IconButton icon={Pencil} label={`Rename “${title}”`} onClick={() => setRenaming(true)} />
        <IconButton icon={Trash2} label={`Delete “${title}”`} onClick={onRemove} />
      </span>
    </li>
  )
}
