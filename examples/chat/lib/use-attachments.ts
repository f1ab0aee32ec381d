import { type UseUploads, useUploads } from 'agentwire/react'
import { useToast } from '../components/ui/toasts.tsx'
import { MAX_BYTES, problemOf } from './attachments.ts'

export interface Attachments extends Omit<UseUploads, 'add'> {
  add(files: readonly File[]): Promise<void>
}

/** The files for the next message. Rejected files are reported. */
export function useAttachments(): Attachments {
  const toast = useToast()
  const uploads = useUploads({ maxBytes: MAX_BYTES })
  return {
    ...uploads,
    add: async (files) => {
      for (const problem of await uploads.add(files)) toast({ text: problemOf(problem) })
    },
  }
}
