import { useState } from 'react'

/** The assistant's question before it calls tools. Each request needs a decision of its own. */
export interface Questions {
  readonly actionRequests: readonly {
    readonly name: string
    readonly args: Readonly<Record<string, unknown>>
  }[]
}

export type Decision = { readonly type: 'approve' } | { readonly type: 'reject' }

interface QuestionProps {
  readonly questions: Questions | undefined
  readonly onAnswer: (decisions: readonly Decision[]) => void
}

/** Sends the answer with the last decision. Until then, the earlier ones can be changed. */
export function Question({ questions, onAnswer }: QuestionProps) {
  const requests = questions?.actionRequests ?? []
  const [decided, setDecided] = useState<readonly (Decision | undefined)[]>([])
  const decide = (at: number, type: Decision['type']) => {
    const next = requests.map((_, index) => (index === at ? { type } : decided[index]))
    setDecided(next)
    if (next.every((decision) => decision !== undefined)) onAnswer(next)
  }
  return requests.map(({ name, args }, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: The requests of a question do not change.
    <section key={at} aria-label={`${name}, ${at + 1} of ${requests.length}`}>
      <strong>{name}</strong>
      <pre>{JSON.stringify(args, null, 2)}</pre>
      <button
        type="button"
        aria-pressed={decided[at]?.type === 'approve'}
        onClick={() => decide(at, 'approve')}
      >
        Approve
      </button>
      <button
        type="button"
        aria-pressed={decided[at]?.type === 'reject'}
        onClick={() => decide(at, 'reject')}
      >
        Reject
      </button>
    </section>
  ))
}
