import { File as FileIcon, X } from 'lucide-react'
import { inWords } from '../../lib/attachments.ts'
import type { Attachments } from '../../lib/use-attachments.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { Picture } from '../ui/picture.tsx'

/** The attachments of the next message. Each can be removed. */
export function Waiting({ attachments: { uploads, remove } }: { readonly attachments: Attachments }) {
  if (uploads.length === 0) return null
  return (
    <ul aria-label="Files to send" className="flex max-h-40 flex-wrap gap-2 overflow-y-auto px-1 pb-2">
      {uploads.map(({ id, kind, name, url, bytes }) => (
        <li key={id} className="flex min-w-0 items-center gap-2 rounded-xl border bg-panel p-1 text-sm">
          {kind === 'image' ? (
            <Picture src={url} alt="" className="size-10 shrink-0 rounded-lg object-cover" />
          ) : (
            <FileIcon aria-hidden className="m-2.5 size-5 shrink-0 text-faint" />
          )}
          <span className="min-w-0 max-w-40">
            <span className="block truncate">{name}</span>
            <span className="block text-faint text-xs">{inWords(bytes)}</span>
          </span>
          <IconButton icon={X} label={`Remove ${name}`} size="small" onClick={() => remove(id)} />
        </li>
      ))}
    </ul>
  )
}
