/** @jsxImportSource preact */
import type { CheckpointRow, ThreadDetail } from '../../wire.ts'
import { threadPath } from '../data/api.ts'
import { useAsked } from '../data/hooks.ts'
import { startRun } from '../data/runs.ts'
import { Action } from './parts.tsx'

interface StoppedProps {
  readonly thread: ThreadDetail
  readonly onDone: () => void
}

/** Whether the thread waits to be continued, and asks nothing. */
export const isStopped = ({ status, open_interrupts, active_run_id, queued }: ThreadDetail): boolean =>
  status === 'interrupted' && open_interrupts.length === 0 && active_run_id === null && queued === 0

/** A run that stopped at a breakpoint, and a button to continue it. */
export function Stopped({ thread, onDone }: StoppedProps) {
  const path = `${threadPath(thread.thread_id)}/checkpoints?limit=1`
  const { data } = useAsked<readonly CheckpointRow[]>(path, thread.log.head)
  const next = data?.[0]?.next ?? []
  const goOn = async () => {
    await startRun(thread, { input: null })
    onDone()
  }
  return (
    <p class="stopped line wrap">
      <span role="status">Stopped at a breakpoint{next.length > 0 && `, before ${next.join(', ')}`}</span>
      <Action kind="primary" run={goOn}>
        Continue
      </Action>
    </p>
  )
}
