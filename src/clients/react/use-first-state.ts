import type { AnyStream } from '@langchain/react'
import { useMemo, useRef } from 'react'
import { type FirstState, hasReached, viewOf, withFirst } from './first-state.ts'

/**
 * A stream that begins with a state which a server has read, and shows nothing less until it has reached that
 * state: at first it has read nothing, and then it repeats a running answer from its beginning.
 */
export function useFirstState<Stream extends AnyStream>(
  stream: Stream,
  state: FirstState | undefined,
): { readonly stream: Stream; readonly isRunning: boolean } {
  // The state counts on the first render only.
  const first = useRef(useMemo(() => state && viewOf(state), [state])).current
  const isOver = useRef(first === undefined)
  const { messages, isLoading, isThreadLoading } = stream
  // Without a run, the state that was read is newer.
  if (first && !isThreadLoading) isOver.current ||= !isLoading || hasReached(first.messages, messages)
  const view = isOver.current ? undefined : first

  const shown = useMemo((): Stream => {
    if (!view) return stream
    const merged = { ...stream, messages: withFirst(view.messages, stream.messages) }
    if (!stream.isThreadLoading) return merged as Stream
    const { values, interrupts } = view
    return { ...merged, values, interrupts, interrupt: interrupts[0] } as unknown as Stream
  }, [stream, view])
  return { stream: shown, isRunning: isThreadLoading && view?.isRunning === true }
}
