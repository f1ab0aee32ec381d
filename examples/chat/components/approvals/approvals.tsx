import { useState } from 'react'
import { type Question, questionOf } from '../../lib/questions.ts'
import type { Chat } from '../../lib/use-chat.ts'
import { Button } from '../ui/button.tsx'

/** What the agent waits for. Interrupts that wait together are answered together, in one command. */
export function Approvals({ chat }: { readonly chat: Chat }) {
  const questions = chat.interrupts.map(questionOf)
  const [answers, setAnswers] = useState<Readonly<Record<string, unknown>>>({})
  if (questions.length === 0) return null
  const answer = (id: string, response: unknown): void => {
    const all = { ...answers, [id]: response }
    setAnswers(all)
    if (questions.every((question) => question.id in all)) void chat.respondAll(all)
  }
  return (
    <section aria-label="The agent asks" className="mx-auto flex w-full max-w-3xl flex-col gap-2 px-4 pb-3">
      {questions.map((question) => (
        <Card key={question.id} question={question} onAnswer={(response) => answer(question.id, response)} />
      ))}
    </section>
  )
}

interface CardProps {
  readonly question: Question
  readonly onAnswer: (response: unknown) => void
}

function Card({ question, onAnswer }: CardProps) {
  const [text, setText] = useState('')
  if (question.kind === 'actions') {
    const decide = (type: string) => onAnswer({ decisions: question.actions.map(() => ({ type })) })
    return (
      <div className="rounded-2xl border border-line bg-raised p-4">
        {question.actions.map(({ name, args }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the calls of an interrupt do not change.
          <pre key={at} className="overflow-x-auto text-sm">
            {name} {JSON.stringify(args, null, 2)}
          </pre>
        ))}
        <div className="mt-3 flex gap-2">
          <Button kind="primary" onClick={() => decide('approve')}>
            Approve
          </Button>
          <Button onClick={() => decide('reject')}>Reject</Button>
        </div>
      </div>
    )
  }
  return (
    <form
      className="rounded-2xl border border-line bg-raised p-4"
      onSubmit={(event) => {
        event.preventDefault()
        onAnswer(text)
      }}
    >
      <p>{question.kind === 'text' ? question.text : JSON.stringify(question.value)}</p>
      <div className="mt-3 flex gap-2">
        <input
          aria-label="Your answer"
          value={text}
          onChange={({ target }) => setText(target.value)}
          className="h-9 flex-1 rounded-lg border border-line bg-page px-3"
        />
        <Button kind="primary" type="submit">
          Answer
        </Button>
      </div>
    </form>
  )
}
