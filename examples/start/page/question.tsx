/** The assistant's question before it calls tools. Each request needs a decision. */
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

export function Question({ questions, onAnswer }: QuestionProps) {
  const requests = questions?.actionRequests ?? []
  const decide = (type: Decision['type']) => () => onAnswer(requests.map(() => ({ type })))
  return (
    <section aria-label="Question">
      {requests.map(({ name, args }) => (
        <div key={name}>
          <strong>{name}</strong>
          <pre>{JSON.stringify(args, null, 2)}</pre>
        </div>
      ))}
      <button type="button" onClick={decide('approve')}>
        Approve
      </button>
      <button type="button" onClick={decide('reject')}>
        Reject
      </button>
    </section>
  )
}
