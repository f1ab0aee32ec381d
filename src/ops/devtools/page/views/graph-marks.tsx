/** @jsxImportSource preact */
import type { ToggleStop } from '../data/local-settings.ts'
import { SIDES, type Stops } from '../model/breakpoints.ts'
import { type Box, type DrawnNode, MAX_LETTERS, type NodeState } from '../model/graph.ts'
import type { Area, PlacedEdge, Point } from '../model/graph-layout.ts'

interface NodeMarkProps {
  readonly node: DrawnNode
  readonly area: Area
  readonly state: NodeState | undefined
  /** Whether the run has reached an end of the graph. */
  readonly isReached: boolean
  readonly isMarked: boolean
  /** Its newest step. Undefined if it had none. */
  readonly href: string | undefined
  readonly onFocus: () => void
}

/** A node. If it had a step, it is a link to the newest one. */
export function NodeMark({ node, area, state, isReached, isMarked, href, onFocus }: NodeMarkProps) {
  const { kind, label, note } = node
  const { width, height } = area
  const classes = ['node', kind, state?.status ?? '', isReached && 'reached', isMarked && 'marked']
  const words = [label, note, stateWords(state)].filter((word) => word !== '').join(', ')
  const badge = badgeOf(state)
  const isRound = kind === 'start' || kind === 'end'
  const content = (
    <>
      <title>{words}</title>
      <rect width={width} height={height} rx={isRound ? height / 2 : 7} />
      <Words class="label" x={isRound ? width / 2 : 14} y={note === '' ? height / 2 : 18} text={label} />
      {note !== '' && <Words class="note" x={14} y={35} text={note} />}
      {badge !== '' && (
        <Words class="badge-text" x={width - 10} y={note === '' ? height / 2 : 18} text={badge} />
      )}
    </>
  )
  const shared = {
    class: classes.filter(Boolean).join(' '),
    transform: `translate(${area.x} ${area.y})`,
  }
  return href === undefined ? (
    // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: a group of SVG is not interactive
    <g {...shared} role="img">
      {content}
    </g>
  ) : (
    <a {...shared} href={href} onFocus={onFocus} aria-current={isMarked ? 'true' : undefined}>
      {content}
    </a>
  )
}

/** The title of the mark, for screen readers. */
const Words = ({ text, ...place }: Point & { readonly class: string; readonly text: string }) => (
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: text of SVG takes no focus
  <text {...place} aria-hidden="true">
    {cut(text)}
  </text>
)

const cut = (text: string): string =>
  text.length > MAX_LETTERS ? `${text.slice(0, MAX_LETTERS - 1)}…` : text

function badgeOf(state: NodeState | undefined): string {
  if (!state) return ''
  const done = state.done > 0 ? `${state.done}×` : ''
  return { running: `${done} …`, completed: done, failed: `${done} ✕`, interrupted: `${done} ?` }[
    state.status
  ].trim()
}

const STATES: Readonly<Record<NodeState['status'], string>> = {
  running: 'running',
  completed: '',
  failed: 'failed',
  interrupted: 'interrupted',
}

function stateWords(state: NodeState | undefined): string {
  if (!state) return 'not run'
  const done = state.done === 0 ? '' : `done ${state.done === 1 ? 'once' : `${state.done} times`}`
  return [STATES[state.status], done].filter((word) => word !== '').join(', ')
}

interface BoxMarkProps {
  readonly box: Box
  readonly area: Area
  readonly state: NodeState | undefined
  readonly isMarked: boolean
}

export const BoxMark = ({ box, area: { x, y, width, height }, state, isMarked }: BoxMarkProps) => (
  // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: a group of SVG is not interactive
  <g
    class={`box ${state?.status ?? ''} ${isMarked ? 'marked' : ''}`}
    transform={`translate(${x} ${y})`}
    role="img"
  >
    <title>{`Subgraph ${box.label}, ${stateWords(state)}`}</title>
    <rect width={width} height={height} rx={10} />
    <Words class="note" x={12} y={14} text={box.label} />
  </g>
)

interface StopMarkProps {
  readonly name: string
  readonly area: Area
  readonly stops: Stops
  readonly onToggle: ToggleStop
}

/** The breakpoints of a node: the one before it can be set here, the one after it is there once it is set. */
export const StopMark = ({ name, area: { x, y, height }, stops, onToggle }: StopMarkProps) =>
  SIDES.filter((side) => side === 'before' || stops.after.includes(name)).map((side) => (
    <g
      key={side}
      class={`stop ${stops[side].includes(name) ? 'set' : ''}`}
      transform={`translate(${x} ${side === 'before' ? y : y + height})`}
      role="checkbox"
      aria-checked={stops[side].includes(name)}
      aria-label={`Breakpoint ${side} ${name}`}
      // In SVG, names of attributes are case-sensitive.
      tabindex={0}
      onClick={() => onToggle(side, name)}
      onKeyDown={(event) => {
        if (event.key !== ' ' && event.key !== 'Enter') return
        event.preventDefault()
        onToggle(side, name)
      }}
    >
      <title>{`Stop ${side} ${name}`}</title>
      <circle r={12} class="target" />
      <circle r={5} />
    </g>
  ))

export const EdgeMark = ({ placed: { edge, points, label } }: { readonly placed: PlacedEdge }) => (
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a group of SVG takes no focus
  <g class={`edge ${edge.isConditional ? 'conditional' : ''}`} aria-hidden="true">
    <path d={pathOf(points)} marker-end="url(#arrow)" />
    {label && (
      <>
        <rect {...label} rx={5} />
        <text class="note" x={label.x + label.width / 2} y={label.y + label.height / 2}>
          {cut(edge.label)}
        </text>
      </>
    )}
  </g>
)

/** A smooth curve through the midpoints. */
function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points
  const last = rest.at(-1)
  if (!first || !last) return ''
  const curves = rest.slice(0, -1).map((point, index) => {
    const next = rest[index + 1]!
    const end = next === last ? last : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 }
    return `Q${point.x} ${point.y} ${end.x} ${end.y}`
  })
  return `M${first.x} ${first.y}${curves.length > 0 ? curves.join('') : `L${last.x} ${last.y}`}`
}
