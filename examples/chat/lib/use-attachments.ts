import { useState } from 'react'
import { useToast } from '../components/ui/toasts.tsx'
import { type Attachment, readFiles } from './attachments.ts'

export interface Attachments {
  readonly waiting: readonly Attachment[]
  add(files: readonly File[]): Promise<void>
  remove(id: string): void
  clear(): void
}

/** The files that wait to be sent with the next message. */
export function useAttachments(): Attachments {
  const toast = useToast()
  const [waiting, setWaiting] = useState<readonly Attachment[]>([])
  return {
    waiting,
    add: async (files) => {
      const { attachments, problems } = await readFiles(files, waiting)
      setWaiting((before) => [...before, ...attachments])
      for (const text of problems) toast({ text })
    },
    remove: (id) => setWaiting((before) => before.filter((one) => one.id !== id)),
    clear: () => setWaiting([]),
  }
}
