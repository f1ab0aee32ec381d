import { Download, File as FileIcon } from 'lucide-react'
import type { Media } from '../../lib/media.ts'
import { isOwnMedia } from '../../lib/own-media.ts'
import { Picture } from '../ui/picture.tsx'

interface MediaListProps {
  readonly media: readonly Media[]
  readonly className?: string
}

/** The images and files of a message. Each can be downloaded. */
export function MediaList({ media, className = '' }: MediaListProps) {
  if (media.length === 0) return null
  return (
    <ul aria-label="Attachments" className={`flex max-w-full flex-wrap gap-2 ${className}`}>
      {media.map((one, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an attachment keeps its place.
        <li key={at} className="min-w-0 max-w-full">
          <MediaView media={one} />
        </li>
      ))}
    </ul>
  )
}

/** One image or file. Those of other origins are links: see `isOwnMedia`. */
export function MediaView({ media: { kind, name, url } }: { readonly media: Media }) {
  const link = { href: url, download: name, 'aria-label': `Download ${name}` }
  const isShown = isOwnMedia(url)
  if (isShown && kind === 'image')
    return (
      <a {...link} className="block">
        <Picture src={url} alt={name} className="max-h-80 max-w-full rounded-xl border border-line" />
      </a>
    )
  // biome-ignore lint/a11y/useMediaCaption: what a model or a user sends has no captions.
  if (isShown && kind === 'audio') return <audio controls src={url} aria-label={name} />
  if (isShown && kind === 'video')
    // biome-ignore lint/a11y/useMediaCaption: what a model or a user sends has no captions.
    return <video controls src={url} aria-label={name} className="max-h-80 rounded-xl" />
  return (
    <a
      {...link}
      className="flex items-center gap-2 rounded-xl border border-line bg-panel px-3 py-2 text-sm hover:bg-hover pointer-coarse:min-h-11"
    >
      <FileIcon aria-hidden className="size-4 shrink-0 text-faint" />
      <span className="truncate">{name}</span>
      <Download aria-hidden className="size-4 shrink-0 text-faint" />
    </a>
  )
}
