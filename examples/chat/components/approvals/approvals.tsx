import { Suspense } from 'react'
import { later } from '../../lib/later.ts'
import type { Interrupt } from '../../lib/questions.ts'

const Questions = later(async () => (await import('./questions.tsx')).Questions)

interface ApprovalsProps {
  readonly interrupts: readonly Interrupt[]
  readonly onAnswer: (responses: Record<string, unknown>) => Promise<void>
}

/** What the agent waits for. */
export function Approvals({ interrupts, onAnswer }: ApprovalsProps) {
  return (
    <Suspense>
      <Questions key={interrupts.map(({ id }) => id).join()} interrupts={interrupts} onAnswer={onAnswer} />
    </Suspense>
  )
}
