import { memo } from 'react'
import { textOf } from '../../lib/messages.ts'
import type { Turn } from '../../lib/turns.ts'

/** A question and its answer. It is rendered again only when one of its messages has changed. */
export const TurnView = memo(({ turn: { question, answer } }: { readonly turn: Turn }) => (
  <article className="flex flex-col gap-4">
    {question && (
      <p className="max-w-[85%] self-end whitespace-pre-wrap rounded-2xl bg-hover px-4 py-2">
        {textOf(question)}
      </p>
    )}
    {answer.map((message, at) => (
      <p key={message.id ?? at} className="whitespace-pre-wrap">
        {textOf(message)}
      </p>
    ))}
  </article>
))
