import { Brain } from 'lucide-react'
import { useElapsed } from '../../lib/use-elapsed.ts'

interface ReasoningProps {
  readonly text: string
  /** The model still thinks. */
  readonly isGrowing: boolean
}

/** What the model thought, folded. The seconds are known only to a page that has seen it think. */
export function Reasoning({ text, isGrowing }: ReasoningProps) {
  const elapsed = useElapsed(isGrowing)
  const title = isGrowing ? 'Thinking…' : elapsed === undefined ? 'Reasoning' : `Thought for ${elapsed}`
  return (
    <details className="text-faint text-sm">
      <summary className="inline-flex cursor-pointer items-center gap-2 rounded-lg py-1 hover:text-ink">
        <Brain aria-hidden className={`size-4 ${isGrowing ? 'animate-pulse' : ''}`} />
        {title}
      </summary>
      <p className="mt-1 ml-2 whitespace-pre-wrap border-l-2 pl-4">{text.trim()}</p>
    </details>
  )
}
