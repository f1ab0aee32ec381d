import { SquarePen } from 'lucide-react'
import { useState } from 'react'
import { agents } from '../../lib/client.ts'
import type { Navigation } from '../../lib/navigation.ts'
import { SEARCH_ID } from '../../lib/shortcuts.ts'
import { Button } from '../ui/button.tsx'
import { Mark } from '../ui/mark.tsx'
import { ThreadList } from './thread-list.tsx'

/** The user's threads, to open, find, rename and delete. */
export function Sidebar({ navigation }: { readonly navigation: Navigation }) {
  const [query, setQuery] = useState('')
  const look = (text: string): void => {
    if (query === '' && text !== '') void agents.threads.loadMore('all')
    setQuery(text)
  }
  return (
    <nav aria-label="Threads" className="flex h-full flex-col gap-2 p-2">
      <p className="flex items-center gap-2 px-3 pt-1.5 pb-1 font-semibold tracking-tight max-md:hidden">
        <Mark className="size-5 text-brand" /> agentwire
      </p>
      <Button onClick={navigation.startNew} className="shrink-0 justify-start">
        <SquarePen aria-hidden className="size-4" /> New chat
      </Button>
      <input
        id={SEARCH_ID}
        type="search"
        aria-label="Search threads"
        placeholder="Search"
        value={query}
        onChange={({ target }) => look(target.value)}
        onKeyDown={({ key }) => key === 'Escape' && setQuery('')}
        className="h-9 shrink-0 rounded-lg border border-line bg-page px-3 text-sm pointer-coarse:h-11 pointer-coarse:text-base"
      />
      <ThreadList query={query.trim()} navigation={navigation} />
    </nav>
  )
}
