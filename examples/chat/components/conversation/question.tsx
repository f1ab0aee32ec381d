import type { BaseMessage } from '@langchain/core/messages'
import { contentOf } from 'agentwire/react'
import { ChevronLeft, ChevronRight, Pencil } from 'lucide-react'
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import type { TurnHistory } from '../../lib/branches.ts'
import type { Content } from '../../lib/content.ts'
import { mediaOf } from '../../lib/media.ts'
import { textOf } from '../../lib/messages.ts'
import { MediaList } from '../attachments/media-view.tsx'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { IconButton } from '../ui/icon-button.tsx'

interface QuestionProps {
  readonly message: BaseMessage
  readonly history: TurnHistory | undefined
  readonly canChange: boolean
  readonly onEdit: (content: Content) => void
  readonly onShow: (checkpointId: string) => void
}

/** A message of the user. Editing it creates a second version of the conversation from here on. */
export function Question({ message, history, canChange, onEdit, onShow }: QuestionProps) {
  const [isEditing, setIsEditing] = useState(false)
  const text = textOf(message)
  const media = mediaOf(message)
  if (isEditing)
    return (
      <Editor
        text={text}
        onCancel={() => setIsEditing(false)}
        onSave={(edited) => {
          setIsEditing(false)
          onEdit(contentOf(edited, media))
        }}
      />
    )
  return (
    <div className="group/question flex max-w-[85%] flex-col items-end gap-1 self-end">
      <MediaList media={media} className="justify-end" />
      {text !== '' && (
        <p dir="auto" className="wrap-anywhere max-w-full whitespace-pre-wrap rounded-2xl bg-hover px-4 py-2">
          {text}
        </p>
      )}
      <div className="-mb-3 flex min-h-8 items-center text-faint text-sm">
        <span className="flex opacity-0 transition-opacity group-focus-within/question:opacity-100 group-hover/question:opacity-100 pointer-coarse:opacity-100">
          <CopyButton label="Copy message" text={text} />
          {canChange && (
            <IconButton icon={Pencil} label="Edit message" size="small" onClick={() => setIsEditing(true)} />
          )}
        </span>
        {history && history.versions.length > 1 && (
          <Versions history={history} canChange={canChange} onShow={onShow} />
        )}
      </div>
    </div>
  )
}

interface VersionsProps {
  readonly history: TurnHistory
  readonly canChange: boolean
  readonly onShow: (checkpointId: string) => void
}

/** “2 / 3”, with arrows to the previous and next version. */
function Versions({ history: { versions, shown }, canChange, onShow }: VersionsProps) {
  const arrow = (icon: typeof ChevronLeft, label: string, at: number) => (
    <IconButton
      icon={icon}
      label={label}
      size="small"
      disabled={!canChange || versions[at] === undefined}
      onClick={() => onShow(versions[at]!)}
    />
  )
  return (
    <fieldset className="flex items-center" aria-label="Versions of this message">
      {arrow(ChevronLeft, 'Version before', shown - 1)}
      <span aria-current="true">
        {shown + 1} / {versions.length}
      </span>
      {arrow(ChevronRight, 'Next version', shown + 1)}
    </fieldset>
  )
}

interface EditorProps {
  readonly text: string
  readonly onSave: (text: string) => void
  readonly onCancel: () => void
}

function Editor({ text, onSave, onCancel }: EditorProps) {
  const [draft, setDraft] = useState(text)
  const save = (event: FormEvent | KeyboardEvent): void => {
    event.preventDefault()
    if (draft.trim() !== '') onSave(draft.trim())
  }
  return (
    <form onSubmit={save} className="flex w-full flex-col gap-2 rounded-2xl border bg-raised p-3">
      <textarea
        // biome-ignore lint/a11y/noAutofocus: the user has just asked to write here.
        autoFocus
        aria-label="Edited message"
        dir="auto"
        value={draft}
        onChange={({ target }) => setDraft(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onCancel()
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) save(event)
        }}
        className="field-sizing-content max-h-80 min-h-16 resize-none bg-transparent outline-none"
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button kind="primary" type="submit" disabled={draft.trim() === ''}>
          Send
        </Button>
      </div>
    </form>
  )
}
