import { useState } from 'react'

/** What tools that need approval ask: docs/approvals.md. */
interface Approval {
  readonly actionRequests: readonly {
    readonly name: string
    readonly args: Readonly<Record<string, unknown>>
  }[]
}

/** Whether the answer to a question is what the user writes. */
export const inWords = (value: unknown): boolean => !(value as Partial<Approval> | null)?.actionRequests

type Decision = 'approve' | 'reject'

interface QuestionProps {
  readonly value: unknown
  readonly onAnswer: (answer: unknown) => void
}

/** A question of the agent: calls to decide on, or words that the next message answers. */
export function Question({ value, onAnswer }: QuestionProps) {
  const { actionRequests, question } = (value ?? {}) as Partial<Approval> & { readonly question?: string }
  if (actionRequests)
    return (
      <Decisions
        requests={actionRequests}
        onDecided={(given) => onAnswer({ decisions: given.map((type) => ({ type })) })}
      />
    )
  return (
    <section aria-label="Question">
      <p>{question ?? JSON.stringify(value)}</p>
      <p className="faint">Your next message is the answer.</p>
    </section>
  )
}

interface DecisionsProps {
  readonly requests: Approval['actionRequests']
  readonly onDecided: (decisions: readonly Decision[]) => void
}

/** The answer is sent when each call has its decision. */
function Decisions({ requests, onDecided }: DecisionsProps) {
  const [decisions, setDecisions] = useState<Readonly<Record<number, Decision>>>({})
  const decide = (at: number, decision: Decision) => {
    const all = { ...decisions, [at]: decision }
    setDecisions(all)
    if (requests.every((_, at) => all[at])) onDecided(requests.map((_, at) => all[at]!))
  }
  return (
    <section aria-label="Question">
      {requests.map(({ name, args }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the requests of a question keep their places.
        <fieldset key={at} disabled={decisions[at] !== undefined}>
          <legend>
            Approve <code>{name}</code>?
          </legend>
          <pre>{JSON.stringify(args, undefined, 2)}</pre>
          <button type="button" onClick={() => decide(at, 'approve')}>
            Approve
          </button>
          <button type="button" onClick={() => decide(at, 'reject')}>
            Reject
          </button>
          {decisions[at] && (
            <span className="faint">{decisions[at] === 'approve' ? 'Approved' : 'Rejected'}</span>
          )}
        </fieldset>
      ))}
    </section>
  )
}
