import { type DragEvent, type ReactNode, useState } from 'react'

interface DropZoneProps {
  readonly onFiles: (files: readonly File[]) => void
  readonly children: ReactNode
}

/** The area where files can be dropped. While some are dragged over it, it says so. Text is dragged as usual. */
export function DropZone({ onFiles, children }: DropZoneProps) {
  const [isOver, setOver] = useState(false)
  const onDragOver = (event: DragEvent): void => {
    if (!event.dataTransfer.types.includes('Files')) return
    event.preventDefault()
    setOver(true)
  }
  const onDragLeave = ({ currentTarget, relatedTarget }: DragEvent): void => {
    if (!currentTarget.contains(relatedTarget as Node | null)) setOver(false)
  }
  const onDrop = (event: DragEvent): void => {
    setOver(false)
    const files = [...event.dataTransfer.files]
    if (files.length === 0) return
    event.preventDefault()
    onFiles(files)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: files can also be chosen with a button.
    <div
      className="relative flex min-h-0 flex-1"
      onDragOver={onDragOver}
      onDragLeave={onDragLeave}
      onDrop={onDrop}
    >
      {children}
      {isOver && (
        <p className="pointer-events-none absolute inset-2 z-30 grid place-items-center rounded-2xl border-2 border-brand border-dashed bg-page/90 font-medium">
          Drop files to attach them
        </p>
      )}
    </div>
  )
}
