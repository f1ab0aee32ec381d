import { usePathname } from 'next/navigation'
import { useCallback, useEffect, useMemo, useState } from 'react'

/** The open chat, and functions to open another. */
export interface Navigation {
  /** The thread of the address `/t/{id}`, or undefined in a new chat without a message. */
  readonly threadId: string | undefined
  /**
   * Changes when another chat is opened, but not when a new chat gets its thread: the component with this key
   * then stays mounted.
   */
  readonly chatKey: string
  open(threadId: string): void
  /** Returns the key of the new chat. */
  startNew(): string
  /** The new chat has created its thread, and the address follows. */
  created(threadId: string): void
}

export const hrefOf = (threadId: string): string => `/t/${encodeURIComponent(threadId)}`

const keyOf = (draft: number): string => `new ${draft}`

/**
 * The address is the state. Next follows `history` without a request to the server, but slightly later. Until
 * then, the page already shows its target, because text typed into the old conversation would be lost.
 */
export function useNavigation(): Navigation {
  const pathname = usePathname()
  const [ahead, setAhead] = useState<{ readonly from: string; readonly to: string }>()
  if (ahead && ahead.from !== pathname) setAhead(undefined)
  const [, , encoded] = (ahead?.from === pathname ? ahead.to : pathname).split('/')
  const threadId = encoded === undefined ? undefined : decodeURIComponent(encoded)
  const [draft, setDraft] = useState<{ readonly number: number; readonly threadId?: string }>({ number: 0 })
  const isDraft = threadId === undefined || threadId === draft.threadId

  useEffect(() => {
    const goBack = (): void => setAhead(undefined)
    addEventListener('popstate', goBack)
    return () => removeEventListener('popstate', goBack)
  }, [])

  const open = useCallback(
    (id: string) => {
      setAhead({ from: pathname, to: hrefOf(id) })
      history.pushState(null, '', hrefOf(id))
    },
    [pathname],
  )
  const startNew = useCallback(() => {
    setAhead({ from: pathname, to: '/' })
    const number = draft.number + 1
    setDraft({ number })
    history.pushState(null, '', '/')
    return keyOf(number)
  }, [pathname, draft])
  const created = useCallback((id: string) => {
    setDraft(({ number }) => ({ number, threadId: id }))
    history.replaceState(null, '', hrefOf(id))
  }, [])
  const chatKey = isDraft ? keyOf(draft.number) : threadId
  return useMemo(
    () => ({ threadId, chatKey, open, startNew, created }),
    [threadId, chatKey, open, startNew, created],
  )
}
