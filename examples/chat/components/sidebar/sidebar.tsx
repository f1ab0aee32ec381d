import { SquarePen } from 'lucide-react'
import { useState } from 'react'
import type { Navigation } from '../../lib/navigation.ts'
import { SEARCH_ID } from '../../lib/shortcuts.ts'
import { loadMore } from '../../lib/threads.ts'
import { Button } from '../ui/button.tsx'
import { ThreadList } from './thread-list.tsx'

/** The threads of the user: to open, find, rename and delete. */
export function Sidebar({ navigation }: { readonly navigation: Navigation }) {
  const [query, setQuery] = useState('')
  const look = (text: string): void => {
    if (query === '' && text !== '') void loadMore(true)
    setQuery(text)
  }
  return (
    <nav aria-label="Threads" className="flex h-full flex-col gap-2 p-2">
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
        className="h-9 shrink-0 rounded-lg border border-line bg-page px-3 text-sm"
      />
      <ThreadList query={query.trim()} navigation={navigation} />
    </nav>
  )
}
