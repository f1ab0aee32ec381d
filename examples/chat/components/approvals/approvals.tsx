import { Suspense, useState } from 'react'
import { later } from '../../lib/later.ts'
import type { Interrupt } from '../../lib/questions.ts'

const Questions = later(async () => (await import('./questions.tsx')).Questions)

interface ApprovalsProps {
  readonly interrupts: readonly Interrupt[]
  readonly onAnswer: (responses: Record<string, unknown>) => Promise<void>
}

/** The agent's open questions. */
export function Approvals({ interrupts, onAnswer }: ApprovalsProps) {
  const [answered, setAnswered] = useState(0)
  const send: ApprovalsProps['onAnswer'] = async (responses) => {
    await onAnswer(responses)
    // If the run that was to continue with the answers fails, the same questions are asked again.
    setAnswered(answered + 1)
  }
  return (
    <Suspense>
      <Questions key={`${answered} ${idsOf(interrupts)}`} interrupts={interrupts} onAnswer={send} />
    </Suspense>
  )
}

/** The server may return the same questions in another order when they are read again. */
const idsOf = (interrupts: readonly Interrupt[]): string =>
  interrupts
    .map(({ id }) => id)
    .sort()
    .join()
