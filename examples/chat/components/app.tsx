'use client'

import { Menu as MenuIcon, PanelLeft, SquarePen } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { useNavigation } from '../lib/navigation.ts'
import { Sidebar } from './sidebar/sidebar.tsx'
import { Dialog } from './ui/dialog.tsx'
import { IconButton } from './ui/icon-button.tsx'
import { Toasts } from './ui/toasts.tsx'

/** Its code is half of the page's: it loads beside the frame, which is shown without it. */
const Conversation = lazy(async () => ({
  default: (await import('./conversation/conversation.tsx')).Conversation,
}))

/** The whole page: the threads at the side (in a drawer on a phone), and the open conversation. */
export function App() {
  const navigation = useNavigation()
  const [wide, setWide] = useState(true)
  const [drawer, setDrawer] = useState(false)
  const sidebar = (
    <Sidebar
      navigation={{
        ...navigation,
        open: (id) => {
          setDrawer(false)
          navigation.open(id)
        },
        startNew: () => {
          setDrawer(false)
          navigation.startNew()
        },
      }}
    />
  )
  return (
    <Toasts>
      <div className="flex h-full">
        {wide && (
          <aside aria-label="Threads" className="hidden w-72 shrink-0 border-r border-line bg-panel md:block">
            {sidebar}
          </aside>
        )}
        <Dialog open={drawer} onOpenChange={setDrawer} title="Threads" side="left">
          {sidebar}
        </Dialog>
        <main className="flex min-w-0 flex-1 flex-col">
          <div className="absolute z-10 flex gap-1 p-2">
            <IconButton
              icon={PanelLeft}
              label={wide ? 'Hide threads' : 'Show threads'}
              className="hidden md:inline-flex"
              onClick={() => setWide(!wide)}
            />
            <IconButton
              icon={MenuIcon}
              label="Show threads"
              className="md:hidden"
              onClick={() => setDrawer(true)}
            />
            <IconButton
              icon={SquarePen}
              label="New chat"
              className="md:hidden"
              onClick={navigation.startNew}
            />
          </div>
          <Suspense>
            <Conversation
              key={navigation.chatKey}
              threadId={navigation.threadId}
              onThreadId={navigation.created}
            />
          </Suspense>
        </main>
      </div>
    </Toasts>
  )
}
