import type { ThreadEntry } from 'agentwire/react'
import { Activity, Download, EllipsisVertical, Link, Pencil, Trash2 } from 'lucide-react'
import { AGENTS } from '../../lib/agents.ts'
import { devtoolsHref, HAS_DEVTOOLS } from '../../lib/devtools.ts'
import { exportThread } from '../../lib/export.ts'
import { shareThread } from '../../lib/share.ts'
import { nameOf } from '../../lib/thread-list.ts'
import { Menu } from '../ui/menu.tsx'
import { useToast } from '../ui/toasts.tsx'

interface ThreadMenuProps {
  readonly entry: ThreadEntry
  readonly className?: string
  readonly onRename: () => void
  readonly onRemove: () => void
}

/** The actions on a thread. */
export function ThreadMenu({ entry, className = '', onRename, onRemove }: ThreadMenuProps) {
  const { id, assistantId } = entry
  const title = nameOf(entry)
  const toast = useToast()
  const agent = AGENTS.find((one) => one.id === assistantId)?.title ?? 'Agent'
  const share = (): void => {
    shareThread(id, title).then(
      (how) => how === 'copied' && toast({ text: 'The link is copied.' }),
      (error: Error) => error.name !== 'AbortError' && toast({ text: 'The link could not be shared.' }),
    )
  }
  const save = (): void => {
    exportThread(id, title, agent).catch(() => toast({ text: 'The thread could not be exported.' }))
  }
  const inspect = (): void => void open(devtoolsHref(id), 'agentwire-devtools')
  return (
    <Menu
      icon={EllipsisVertical}
      label={`Actions for “${title}”`}
      className={className}
      items={[
        { icon: Pencil, label: 'Rename', run: onRename },
        { icon: Link, label: 'Share link', run: share },
        { icon: Download, label: 'Export as Markdown', run: save },
        ...(HAS_DEVTOOLS ? [{ icon: Activity, label: 'Open in the devtools', run: inspect }] : []),
        { icon: Trash2, label: 'Delete', isDanger: true, run: onRemove },
      ]}
    />
  )
}
