import { Brain } from 'lucide-react'
import { inWords, useElapsed } from '../../lib/use-elapsed.ts'

interface ReasoningProps {
  readonly text: string
  /** Whether the model is still reasoning. */
  readonly isGrowing: boolean
  /** How long it reasoned, if the server reports it. */
  readonly ms: number | undefined
}

/**
 * The model's reasoning, collapsed. If the server does not report its duration, only a page that has watched
 * it knows.
 */
export function Reasoning({ text, isGrowing, ms }: ReasoningProps) {
  const seen = useElapsed(isGrowing)
  const elapsed = ms === undefined ? seen : inWords(ms)
  const title = isGrowing ? 'Thinking…' : elapsed === undefined ? 'Reasoning' : `Thought for ${elapsed}`
  return (
    <details className="text-faint text-sm">
      <summary className="inline-flex cursor-pointer items-center gap-2 rounded-lg py-1 hover:text-ink pointer-coarse:min-h-11">
        <Brain aria-hidden className={`size-4 ${isGrowing ? 'animate-pulse' : ''}`} />
        {title}
      </summary>
      <p dir="auto" className="mt-1 ms-2 wrap-anywhere whitespace-pre-wrap border-line border-s-2 ps-4">
        {text.trim()}
      </p>
    </details>
  )
}
