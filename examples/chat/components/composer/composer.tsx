import { ArrowUp, Square } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import { IconButton } from '../ui/icon-button.tsx'

interface ComposerProps {
  readonly isRunning: boolean
  readonly onSend: (text: string) => void
  readonly onStop: () => void
}

/** Where a message is written. Enter sends it, Shift-Enter begins a new line. */
export function Composer({ isRunning, onSend, onStop }: ComposerProps) {
  const [draft, setDraft] = useState('')
  const send = (): void => {
    const text = draft.trim()
    if (text === '') return
    setDraft('')
    onSend(text)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    // An input method uses Enter for its own choice.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <form
      className="mx-auto w-full max-w-3xl px-4 pb-4"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <div className="flex items-end gap-2 rounded-2xl border border-line bg-raised p-2 shadow-sm">
        <textarea
          value={draft}
          onChange={({ target }) => setDraft(target.value)}
          onKeyDown={onKeyDown}
          rows={1}
          aria-label="Message"
          placeholder="Write a message"
          className="field-sizing-content max-h-60 min-h-9 flex-1 resize-none bg-transparent px-2 py-1.5 outline-none"
        />
        {isRunning && <IconButton icon={Square} label="Stop" onClick={onStop} />}
        <IconButton icon={ArrowUp} label="Send" kind="primary" type="submit" disabled={draft.trim() === ''} />
      </div>
    </form>
  )
}
