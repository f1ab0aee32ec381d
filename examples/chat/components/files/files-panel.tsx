import { Download, FileText, X } from 'lucide-react'
import { useState } from 'react'
import { download } from '../../lib/export.ts'
import { type Artifact, languageOf } from '../../lib/files.ts'
import { useMedia } from '../../lib/use-media.ts'
import { MediaView } from '../attachments/media-view.tsx'
import { Code } from '../markdown/code.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { IconButton } from '../ui/icon-button.tsx'

interface FilesPanelProps {
  readonly artifacts: readonly Artifact[]
  readonly onClose: () => void
}

/**
 * The conversation's files, one of them open: next to the conversation if there is room, otherwise in a
 * dialog.
 */
export function FilesPanel({ artifacts, onClose }: FilesPanelProps) {
  const isWide = useMedia('(width >= 64rem)')
  const files = <Files artifacts={artifacts} />
  if (!isWide)
    return (
      <Dialog open onOpenChange={onClose} title="Files" side="right">
        {files}
      </Dialog>
    )
  return (
    <aside aria-label="Files" className="flex w-[min(32rem,40vw)] min-h-0 min-w-0 flex-col border-l bg-page">
      <header className="flex min-h-12 shrink-0 items-center justify-between border-b pr-2 pl-4">
        <h2 className="font-semibold text-sm">Files</h2>
        <IconButton icon={X} label="Close files" onClick={onClose} />
      </header>
      {files}
    </aside>
  )
}

function Files({ artifacts }: Pick<FilesPanelProps, 'artifacts'>) {
  const [name, setName] = useState<string>()
  const open = artifacts.find((one) => one.name === name) ?? artifacts[0]
  return (
    <div className="flex h-full min-h-0 flex-1 flex-col">
      {artifacts.length > 1 && (
        <ul className="flex shrink-0 flex-wrap gap-1 border-b p-2">
          {artifacts.map((one, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two media may have one name.
            <li key={`${one.name} ${at}`} className="min-w-0">
              <button
                type="button"
                aria-pressed={one === open}
                onClick={() => setName(one.name)}
                className="flex h-8 max-w-full items-center gap-2 rounded-lg px-2 text-sm hover:bg-hover aria-pressed:bg-hover pointer-coarse:h-11"
              >
                <FileText aria-hidden className="size-4 shrink-0 text-faint" />
                <span className="truncate">{one.name}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be within reach of the keyboard. */}
      <section aria-label="File" tabIndex={0} className="min-h-0 flex-1 overflow-y-auto p-4">
        {open ? <Open artifact={open} /> : <p className="text-faint text-sm">There are no files any more.</p>}
      </section>
    </div>
  )
}

function Open({ artifact }: { readonly artifact: Artifact }) {
  if (artifact.kind === 'media') return <MediaView media={artifact.media} />
  const { name, text } = artifact
  const language = languageOf(name)
  return (
    <>
      <div className="mb-3 flex items-center gap-1">
        <h3 className="min-w-0 flex-1 truncate font-medium text-sm">{name}</h3>
        <CopyButton label={`Copy ${name}`} text={text} />
        <IconButton
          icon={Download}
          label={`Download ${name}`}
          size="small"
          className="text-faint"
          onClick={() => download(name.slice(name.lastIndexOf('/') + 1), text, 'text/plain')}
        />
      </div>
      {language === 'md' ? (
        <Markdown text={text} isGrowing={false} />
      ) : (
        <Code code={text} language={language} isGrowing={false} />
      )}
    </>
  )
}
