import { Button } from '../ui/button.tsx'

/** Replaces a conversation whose thread was deleted in another tab or by someone else. */
export function Gone({ onNew }: { readonly onNew: () => void }) {
  return (
    <section role="alert" className="m-auto flex max-w-prose flex-col items-center gap-4 p-6 text-center">
      <h2 className="font-semibold text-xl">This thread was deleted</h2>
      <p className="text-faint text-sm">It is gone with all its messages.</p>
      <Button kind="primary" onClick={onNew}>
        New chat
      </Button>
    </section>
  )
}
