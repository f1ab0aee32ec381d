import { Brain } from 'lucide-react'
import { inWords, useElapsed } from '../../lib/use-elapsed.ts'

interface ReasoningProps {
  readonly text: string
  /** The model still thinks. */
  readonly isGrowing: boolean
  /** How long it thought, where the server tells. */
  readonly ms: number | undefined
}

/** What the model thought, folded. Where the server does not tell how long, only a page that has seen it think knows. */
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
      <p className="mt-1 ml-2 whitespace-pre-wrap border-line border-l-2 pl-4">{text.trim()}</p>
    </details>
  )
}
