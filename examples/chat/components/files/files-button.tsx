import { Files } from 'lucide-react'
import { createPortal } from 'react-dom'
import { ACTIONS_ID } from '../../lib/page.ts'
import { Button } from '../ui/button.tsx'
import { useReady } from '../ui/ready.tsx'

interface FilesButtonProps {
  readonly count: number
  readonly isOpen: boolean
  readonly onToggle: () => void
}

/** Opens the conversation's files. It appears in the header as soon as there is a file. */
export function FilesButton({ count, isOpen, onToggle }: FilesButtonProps) {
  const isReady = useReady()
  const place = isReady ? document.getElementById(ACTIONS_ID) : null
  return (
    place &&
    createPortal(
      <Button kind="quiet" aria-expanded={isOpen} onClick={onToggle}>
        <Files aria-hidden className="size-4" />
        <span>
          {count}
          <span className="max-md:sr-only">{count === 1 ? ' file' : ' files'}</span>
        </span>
      </Button>,
      place,
    )
  )
}
