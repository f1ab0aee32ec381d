import { ArrowUp, Paperclip, Square } from 'lucide-react'
import { type ClipboardEvent, type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react'
import type { Content } from '../../lib/content.ts'
import { draftOf, keepDraft } from '../../lib/drafts.ts'
import type { Attachments } from '../../lib/use-attachments.ts'
import { useMedia } from '../../lib/use-media.ts'
import { Waiting } from '../attachments/waiting.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Ready } from '../ui/ready.tsx'

interface ComposerProps {
  /** Whether this starts a new chat. */
  readonly isNew: boolean
  readonly threadId: string | undefined
  readonly isRunning: boolean
  /** The agent waits for an answer, so a text is one. */
  readonly isAsked: boolean
  readonly attachments: Attachments
  /** False: the message cannot be sent now, and stays. */
  readonly onSend: (content: Content) => boolean
  readonly onStop: () => void
}

/**
 * The message field. Enter sends, Shift-Enter starts a new line; on a touch screen, whose keyboard has no
 * Shift-Enter, Enter starts a new line and Ctrl-Enter sends. Files are added with the button, by paste or by drop.
 */
export function Composer(props: ComposerProps) {
  const { isNew, threadId, isRunning, isAsked, attachments, onSend, onStop } = props
  const [draft, setDraft] = useState('')
  const isTouch = useMedia('(pointer: coarse)')
  const picker = useRef<HTMLInputElement>(null)
  const field = useRef<HTMLTextAreaElement>(null)
  // Text that was typed before the page's code was loaded, otherwise what was left here.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new chat that gets its thread keeps its text.
  useLayoutEffect(() => setDraft(field.current!.value || draftOf(threadId)), [])
  const write = (text: string): void => {
    setDraft(text)
    keepDraft(threadId, text)
  }
  /** The button that was pressed may go away. On a touch screen, this would open the keyboard. */
  const goToField = (): void => {
    if (!isTouch) field.current?.focus()
  }
  const canSend = draft.trim() !== '' || attachments.uploads.length > 0
  const send = (): void => {
    if (!canSend || !onSend(attachments.contentOf(draft.trim()))) return
    write('')
    attachments.clear()
    goToField()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    // An input method uses Enter to accept its suggestion.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    if (isTouch && !event.ctrlKey && !event.metaKey) return
    event.preventDefault()
    send()
  }
  const onPaste = (event: ClipboardEvent): void => {
    const files = [...event.clipboardData.files]
    if (files.length === 0) return
    event.preventDefault()
    void attachments.add(files)
  }
  return (
    <form
      className="mx-auto w-full max-w-3xl px-4 pb-4"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <div className="rounded-2xl border bg-raised p-2 shadow-sm focus-within:border-brand">
        <Waiting attachments={attachments} />
        <div className="flex items-end gap-1">
          <Ready>
            <IconButton icon={Paperclip} label="Attach files" onClick={() => picker.current?.click()} />
          </Ready>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-label="Files"
            onChange={({ target }) => {
              void attachments.add([...(target.files ?? [])])
              // Allows choosing the same file again.
              target.value = ''
            }}
          />
          <textarea
            ref={field}
            // biome-ignore lint/a11y/noAutofocus: who starts a new chat is about to write its first message.
            autoFocus={isNew}
            value={draft}
            onChange={({ target }) => write(target.value)}
            onKeyDown={onKeyDown}
            onPaste={onPaste}
            rows={1}
            dir="auto"
            enterKeyHint={isTouch ? 'enter' : 'send'}
            aria-label="Message"
            placeholder={isAsked ? 'Answer the question' : 'Write a message'}
            className="field-sizing-content max-h-60 min-h-9 min-w-0 flex-1 resize-none bg-transparent px-2 py-1.5 outline-none pointer-coarse:min-h-11 pointer-coarse:py-2.5"
          />
          {isRunning && (
            <IconButton
              icon={Square}
              label="Stop"
              kind={canSend ? 'quiet' : 'primary'}
              className="[&>svg]:size-4 [&>svg]:fill-current"
              onClick={() => {
                onStop()
                goToField()
              }}
            />
          )}
          {(canSend || !isRunning) && (
            <IconButton
              icon={ArrowUp}
              label={isRunning && !isAsked ? 'Send when the answer is complete' : 'Send'}
              kind="primary"
              type="submit"
              disabled={!canSend}
            />
          )}
        </div>
      </div>
    </form>
  )
}
