import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'

/** The props of every question card. */
export interface CardProps {
  readonly answer: unknown
  readonly isAnswered: boolean
  readonly onAnswer: (answer: unknown) => void
  readonly onReopen: () => void
}

interface FrameProps {
  readonly title: string
  /** The decision, and how to change it. */
  readonly outcome?: string
  readonly onReopen?: () => void
  readonly children?: ReactNode
}

/** The frame of a question, or one line once it is decided. */
export function Card({ title, outcome, onReopen, children }: FrameProps) {
  return (
    <fieldset
      aria-label={title}
      className={`flex min-w-0 flex-col gap-3 rounded-2xl border border-line bg-raised px-4 text-sm ${outcome === undefined ? 'py-4' : 'py-1'}`}
    >
      <header className="flex items-center gap-2">
        {outcome === undefined && <span aria-hidden className="size-2 shrink-0 rounded-full bg-warn" />}
        <h2
          dir="auto"
          title={outcome === undefined ? undefined : title}
          className={`min-w-0 flex-1 font-medium ${outcome === undefined ? 'wrap-anywhere whitespace-pre-wrap' : 'truncate'}`}
        >
          {title}
        </h2>
        {outcome !== undefined && (
          <>
            <span dir="auto" className="max-w-1/2 truncate text-faint">
              {outcome}
            </span>
            <Button kind="quiet" onClick={onReopen}>
              Change
            </Button>
          </>
        )}
      </header>
      {children}
    </fieldset>
  )
}
