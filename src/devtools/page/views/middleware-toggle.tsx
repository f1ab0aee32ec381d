/** @jsxImportSource preact */
interface MiddlewareToggleProps {
  /** What is counted, in the singular. */
  readonly what: 'step' | 'event' | 'node'
  readonly count: number
  readonly isOn: boolean
  readonly onToggle: () => void
}

/** Shows and hides what middleware did. Hidden is the default, because an agent has more of it than of steps. */
export const MiddlewareToggle = ({ what, count, isOn, onToggle }: MiddlewareToggleProps) =>
  count === 0 ? null : (
    <button type="button" aria-pressed={isOn} onClick={onToggle} title={isOn ? 'Hide them' : 'Show them'}>
      {count.toLocaleString()} middleware {what}
      {count > 1 && 's'}
    </button>
  )
