import { useThread } from 'agentwire/react'
import { Activity, CircleHelp, Moon, PanelLeft, SquarePen, Sun } from 'lucide-react'
import { useEffect, useState } from 'react'
import { AGENTS } from '../../lib/agents.ts'
import { agents } from '../../lib/client.ts'
import { devtoolsHref, HAS_DEVTOOLS } from '../../lib/devtools.ts'
import type { Navigation } from '../../lib/navigation.ts'
import { ACTIONS_ID } from '../../lib/page.ts'
import { toggleTheme } from '../../lib/theme.ts'
import { nameOf } from '../../lib/thread-list.ts'
import { useRemove } from '../../lib/use-remove.ts'
import { useRename } from '../../lib/use-rename.ts'
import { TitleField } from '../sidebar/title-field.tsx'
import { ThreadMenu } from '../threads/thread-menu.tsx'
import { buttonLook } from '../ui/button.tsx'
import { IconButton } from '../ui/icon-button.tsx'

interface HeaderProps {
  readonly navigation: Navigation
  readonly onThreads: () => void
  readonly onHelp: () => void
}

/** The open thread's title and agent, and the page's buttons. */
export function Header({ navigation, onThreads, onHelp }: HeaderProps) {
  const open = useThread(agents, navigation.threadId)
  const rename = useRename()
  const remove = useRemove(navigation)
  /** The thread whose title is being edited. */
  const [renamed, setRenamed] = useState<string>()
  const agent = AGENTS.find(({ id }) => id === open?.assistantId)
  useEffect(() => {
    document.title = open ? `${nameOf(open)} · agentwire chat` : 'agentwire chat'
  }, [open])
  return (
    <header className="flex min-h-12 shrink-0 items-center gap-1 border-b px-2">
      <IconButton icon={PanelLeft} label="Show or hide threads" onClick={onThreads} />
      <IconButton icon={SquarePen} label="New chat" className="md:hidden" onClick={navigation.startNew} />
      {open && renamed === open.id ? (
        <div className="min-w-0 flex-1 px-2">
          <TitleField
            title={nameOf(open)}
            onDone={(title) => {
              setRenamed(undefined)
              rename(open, title)
            }}
          />
        </div>
      ) : (
        <div className="flex min-w-0 flex-1 items-baseline gap-2 px-2">
          <h1 dir="auto" className={open ? 'truncate font-medium text-sm' : 'sr-only'}>
            {nameOf(open)}
          </h1>
          {agent && <span className="shrink-0 text-faint text-xs max-md:hidden">{agent.title}</span>}
        </div>
      )}
      <div id={ACTIONS_ID} className="contents" />
      {open && <ThreadMenu entry={open} onRename={() => setRenamed(open.id)} onRemove={() => remove(open)} />}
      {HAS_DEVTOOLS && (
        <a
          href={devtoolsHref(open?.id)}
          target="agentwire-devtools"
          className={`max-md:hidden ${buttonLook({ kind: 'quiet' })}`}
        >
          <Activity aria-hidden className="size-4" /> Devtools
        </a>
      )}
      <IconButton icon={CircleHelp} label="Keys" className="max-md:hidden" onClick={onHelp} />
      <IconButton icon={Moon} label="Dark theme" className="dark:hidden" onClick={toggleTheme} />
      <IconButton icon={Sun} label="Light theme" className="not-dark:hidden" onClick={toggleTheme} />
    </header>
  )
}
