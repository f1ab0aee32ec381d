import type { ThreadEntry } from 'agentwire/react'
import { useToast } from '../components/ui/toasts.tsx'
import { agents } from './client.ts'
import { hrefOf, type Navigation } from './navigation.ts'
import { nameOf } from './thread-list.ts'

/** Deletes a thread once it can no longer be undone. */
export function useRemove(navigation: Navigation): (entry: ThreadEntry) => void {
  const toast = useToast()
  return (entry) => {
    const { id } = entry
    const title = nameOf(entry)
    // `navigation.threadId` follows the address a moment later.
    const isOpen = location.pathname === hrefOf(id)
    const removal = agents.threads.remove(id)
    if (isOpen) navigation.startNew()
    const undo = (): void => {
      void removal.undo()
      if (isOpen) navigation.open(id)
    }
    const onGone = (): void => {
      removal.finish().catch(() => toast({ text: `“${title}” could not be deleted.` }))
    }
    toast({ text: `“${title}” is deleted.`, action: { label: 'Undo', run: undo }, onGone })
  }
}
