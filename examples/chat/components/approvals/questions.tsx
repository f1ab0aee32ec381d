import { useRef, useState } from 'react'
import { focusComposer } from '../../lib/page.ts'
import { type Interrupt, type Question, questionsOf, responsesOf } from '../../lib/questions.ts'
import { Button } from '../ui/button.tsx'
import { ActionCard } from './action-card.tsx'
import { AnswerCard } from './answer-card.tsx'

interface QuestionsProps {
  readonly interrupts: readonly Interrupt[]
  readonly onAnswer: (responses: Record<string, unknown>) => Promise<void>
}

type Answers = Readonly<Record<string, unknown>>

/** The open questions. They are answered together in one command; a single one as soon as it is decided. */
export function Questions({ interrupts, onAnswer }: QuestionsProps) {
  const questions = interrupts.flatMap(questionsOf)
  const [answers, setAnswers] = useState<Answers>({})
  const [isSending, setSending] = useState(false)
  const cards = useRef<HTMLDivElement>(null)
  const open = questions.filter(({ key }) => !(key in answers))

  const send = (all: Answers): void => {
    setSending(true)
    focusComposer()
    // The conversation shows the error, and the answer can be sent again.
    onAnswer(responsesOf(questions, all)).catch(() => setSending(false))
  }
  const answer = (key: string, response: unknown): void => {
    const all = { ...answers, [key]: response }
    setAnswers(all)
    if (questions.length === 1) send(all)
    else requestAnimationFrame(() => cards.current?.querySelector<HTMLElement>('button, textarea')?.focus())
  }
  const reopen = (key: string): void => {
    const { [key]: _, ...others } = answers
    setAnswers(others)
  }
  const approveRest = (): void => {
    const approved = open.filter(canApprove).map(({ key }) => [key, { type: 'approve' }] as const)
    setAnswers({ ...answers, ...Object.fromEntries(approved) })
  }
  const cardOf = (question: Question) => {
    const card = {
      answer: answers[question.key],
      isAnswered: question.key in answers,
      onAnswer: (response: unknown) => answer(question.key, response),
      onReopen: () => reopen(question.key),
    }
    return question.kind === 'action' ? (
      <ActionCard key={question.key} action={question.action} {...card} />
    ) : (
      <AnswerCard key={question.key} question={question} {...card} />
    )
  }
  return (
    <section aria-label="The agent waits for you">
      <fieldset disabled={isSending} className="flex flex-col gap-2">
        <legend className="sr-only">The agent waits for you</legend>
        <div ref={cards} className="flex flex-col gap-2">
          {questions.map(cardOf)}
        </div>
        {questions.length > 1 && (
          <div className="flex flex-wrap items-center justify-end gap-2">
            <p role="status" className="flex-1 text-faint text-sm">
              {questions.length - open.length} of {questions.length} decided
            </p>
            {open.some(canApprove) && (
              <Button onClick={approveRest}>
                {open.length === questions.length ? 'Approve all' : 'Approve the rest'}
              </Button>
            )}
            <Button kind="primary" disabled={open.length > 0} onClick={() => send(answers)}>
              Send
            </Button>
          </div>
        )}
      </fieldset>
    </section>
  )
}

const canApprove = (question: Question): boolean =>
  question.kind === 'action' && question.action.allowed.includes('approve')
