import { Button } from '../ui/button.tsx'

const WORDS = {
  deleted: ['This thread was deleted', 'It is gone with all its messages.'],
  unknown: ['There is no such thread', 'The address may be wrong, or the thread was deleted.'],
} as const

interface GoneProps {
  readonly why: keyof typeof WORDS
  readonly onNew: () => void
}

/** Replaces a conversation whose thread was deleted in another tab or by someone else, or never existed. */
export function Gone({ why, onNew }: GoneProps) {
  const [title, text] = WORDS[why]
  return (
    <section role="alert" className="m-auto flex max-w-prose flex-col items-center gap-4 p-6 text-center">
      <h2 className="font-semibold text-xl">{title}</h2>
      <p className="text-faint text-sm">{text}</p>
      <Button kind="primary" onClick={onNew}>
        New chat
      </Button>
    </section>
  )
}
