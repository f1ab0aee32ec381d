import { STREAM_CONTROLLER } from '@langchain/react'
import { useCallback, useEffect, useRef, useState } from 'react'
import { type Checkpoint, type TurnHistory, turnHistories } from './branches.ts'
import { listCheckpoints, showCheckpoint } from './checkpoints.ts'
import type { Turn } from './turns.ts'
import type { Chat } from './use-chat.ts'

interface UseHistories {
  /** By turn id. Old turns of a long thread are missing. */
  readonly histories: ReadonlyMap<string, TurnHistory>
  /** Reads as far back as necessary. */
  readonly historyOf: (turn: Turn) => Promise<TurnHistory>
  /** Shows the branch that ends with this checkpoint. */
  readonly show: (checkpointId: string) => Promise<void>
}

/** The turns' versions and times, from the checkpoints. They are read again after each run. */
export function useHistories(chat: Chat, turns: readonly Turn[]): UseHistories {
  const { threadId, isLoading, isThreadLoading } = chat
  const controller = chat[STREAM_CONTROLLER]
  const [histories, setHistories] = useState<ReadonlyMap<string, TurnHistory>>(new Map())
  const [shows, setShows] = useState(0)
  const shown = useRef(turns)
  shown.current = turns

  const isIdle = threadId !== null && !isLoading && !isThreadLoading
  // biome-ignore lint/correctness/useExhaustiveDependencies: another branch, counted by `shows`, has another history.
  useEffect(() => {
    if (!isIdle) return
    let isCurrent = true
    listCheckpoints(threadId).then((checkpoints) => {
      if (isCurrent) setHistories(historiesOf(shown.current, checkpoints))
    }, console.warn)
    return () => {
      isCurrent = false
    }
  }, [isIdle, threadId, shows])

  const historyOf = useCallback(
    async (turn: Turn): Promise<TurnHistory> => {
      const checkpoints: Checkpoint[] = []
      while (threadId !== null) {
        const page = await listCheckpoints(threadId, checkpoints.at(-1)?.id)
        if (page.length === 0) break
        checkpoints.push(...page)
        const found = historiesOf(shown.current, checkpoints).get(turn.id)
        if (found) return found
      }
      throw new Error('This message is no longer in the history of the thread.')
    },
    [threadId],
  )
  const show = useCallback(
    async (checkpointId: string): Promise<void> => {
      if (threadId === null) return
      await showCheckpoint(threadId, checkpointId)
      await controller.hydrate()
      setShows((count) => count + 1)
    },
    [threadId, controller],
  )
  return { histories, historyOf, show }
}

/** The newest turn with a question belongs to the newest history, and so on. */
function historiesOf(turns: readonly Turn[], checkpoints: readonly Checkpoint[]) {
  const asked = turns.filter(({ question }) => question !== undefined).toReversed()
  return new Map(
    turnHistories(checkpoints).flatMap((history, at) => {
      const turn = asked[at]
      return turn ? [[turn.id, history] as const] : []
    }),
  )
}
