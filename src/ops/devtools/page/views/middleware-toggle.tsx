/** @jsxImportSource preact */
interface MiddlewareToggleProps {
  /** The noun for what is counted, in the singular. */
  readonly what: 'step' | 'event' | 'node'
  readonly count: number
  readonly isOn: boolean
  readonly onToggle: () => void
}

/** Shows or hides middleware. It is hidden by default, because it outnumbers the other steps. */
export const MiddlewareToggle = ({ what, count, isOn, onToggle }: MiddlewareToggleProps) =>
  count === 0 ? null : (
    <button type="button" aria-pressed={isOn} onClick={onToggle} title={isOn ? 'Hide them' : 'Show them'}>
      {count.toLocaleString()} middleware {what}
      {count > 1 && 's'}
    </button>
  )
