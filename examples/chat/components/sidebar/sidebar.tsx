import { SquarePen } from 'lucide-react'
import { useEffect, useState } from 'react'
import { apiUrl } from '../../lib/client.ts'
import type { Navigation } from '../../lib/navigation.ts'
import { Button } from '../ui/button.tsx'

interface ThreadEntry {
  readonly id: string
  readonly title: string | null
  readonly updatedAt: string | null
}

export function Sidebar({ navigation }: { readonly navigation: Navigation }) {
  const [threads, setThreads] = useState<readonly ThreadEntry[]>([])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another thread is read anew.
  useEffect(() => {
    fetch(`${apiUrl}/threads`)
      .then((response) => response.json())
      .then(setThreads, console.warn)
  }, [navigation.threadId])
  return (
    <nav className="flex h-full flex-col gap-2 p-2">
      <Button onClick={navigation.startNew} className="mt-10 justify-start">
        <SquarePen aria-hidden className="size-4" /> New chat
      </Button>
      <ul className="min-h-0 flex-1 overflow-y-auto">
        {threads.map(({ id, title }) => (
          <li key={id}>
            <Button
              kind="quiet"
              aria-current={id === navigation.threadId ? 'page' : undefined}
              className="w-full justify-start truncate font-normal aria-[current]:bg-hover"
              onClick={() => navigation.open(id)}
            >
              {title ?? 'Untitled'}
            </Button>
          </li>
        ))}
      </ul>
    </nav>
  )
}
