import { type FormEvent, type KeyboardEvent, useId, useState } from 'react'
import { answerOf } from '../../lib/answers.ts'
import type { Question } from '../../lib/questions.ts'
import { Value } from '../tools/value.tsx'
import { Button } from '../ui/button.tsx'
import { FIELD } from '../ui/field.ts'
import { Card, type CardProps } from './card.tsx'

interface AnswerCardProps extends CardProps {
  readonly question: Exclude<Question, { readonly kind: 'action' }>
}

/** A text question with a text answer, or data of any shape, whose answer may be JSON. */
export function AnswerCard({ question, isAnswered, onAnswer, onReopen }: AnswerCardProps) {
  const [text, setText] = useState('')
  const [fault, setFault] = useState<string>()
  const faultId = useId()
  const title = question.kind === 'text' ? question.text : 'The agent waits for an answer'
  if (isAnswered) return <Card title={title} outcome={text} onReopen={onReopen} />

  const send = (event: FormEvent | KeyboardEvent): void => {
    event.preventDefault()
    const { answer, fault } = question.kind === 'text' ? { answer: text } : answerOf(text)
    setFault(fault)
    if (fault === undefined) onAnswer(answer)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) send(event)
  }
  return (
    <Card title={title}>
      {question.kind === 'data' && <Value value={question.value} />}
      <form className="flex flex-wrap items-end gap-2" onSubmit={send}>
        <textarea
          aria-label="Your answer"
          aria-invalid={fault !== undefined}
          aria-describedby={fault === undefined ? undefined : faultId}
          placeholder={question.kind === 'text' ? 'Your answer' : 'Your answer, as text or as JSON'}
          rows={1}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={onKeyDown}
          className={`field-sizing-content max-h-60 min-w-40 flex-1 ${FIELD}`}
        />
        <Button kind="primary" type="submit">
          Answer
        </Button>
      </form>
      {fault !== undefined && (
        <p id={faultId} role="alert" className="text-bad">
          {fault}
        </p>
      )}
    </Card>
  )
}
