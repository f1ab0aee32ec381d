import { type KeyboardEvent, useState } from 'react'

interface TitleFieldProps {
  readonly title: string
  /** Called without a title if it is unchanged. */
  readonly onDone: (title?: string) => void
}

/** A thread's title while it is edited: Enter or blur saves it, Escape discards it. */
export function TitleField({ title, onDone }: TitleFieldProps) {
  const [text, setText] = useState(title)
  const keep = (): void => onDone(text.trim() || undefined)
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Enter') keep()
    if (event.key === 'Escape') onDone()
  }
  return (
    <input
      // biome-ignore lint/a11y/noAutofocus: the user has just asked to write here.
      autoFocus
      aria-label="Title"
      dir="auto"
      value={text}
      maxLength={200}
      onFocus={({ target }) => target.select()}
      onChange={({ target }) => setText(target.value)}
      onKeyDown={onKeyDown}
      onBlur={keep}
      className="h-9 w-full rounded-lg border border-line bg-page px-3 text-sm -outline-offset-2 pointer-coarse:h-11 pointer-coarse:text-base"
    />
  )
}
