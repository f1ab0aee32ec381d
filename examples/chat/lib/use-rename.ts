import type { ThreadEntry } from 'agentwire/react'
import { useToast } from '../components/ui/toasts.tsx'
import { agents } from './client.ts'
import { nameOf } from './thread-list.ts'

/** Renames a thread. Without a title, or with the one that it has, nothing changes. */
export function useRename(): (entry: ThreadEntry, title?: string) => void {
  const toast = useToast()
  return (entry, title = nameOf(entry)) => {
    if (title === nameOf(entry)) return
    agents.threads.rename(entry.id, title).catch(() => toast({ text: 'The thread could not be renamed.' }))
  }
}
