/** @jsxImportSource preact */
import { useEffect, useRef } from 'preact/hooks'
import { useKeys } from '../data/hooks.ts'
import type { ToggleStop } from '../data/local-settings.ts'
import { useCamera } from '../data/use-camera.ts'
import type { Stops } from '../model/breakpoints.ts'
import { joined, type NodeState } from '../model/graph.ts'
import type { Area, Layout } from '../model/graph-layout.ts'
import type { Span } from '../model/spans.ts'
import { BoxMark, EdgeMark, NodeMark, StopMark } from './graph-marks.tsx'

interface GraphCanvasProps {
  readonly agent: string
  readonly layout: Layout
  readonly states: ReadonlyMap<string, NodeState>
  readonly run: Span | undefined
  /** The node of the selected step. */
  readonly marked: string | undefined
  readonly stops: Stops
  readonly onToggleStop: ToggleStop
  readonly linkTo: (step: string) => string
}

const ZOOM = 1.25
const PAN = 60
const ARROWS: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [PAN, 0],
  ArrowRight: [-PAN, 0],
  ArrowUp: [0, PAN],
  ArrowDown: [0, -PAN],
}

/** A graph that can be panned and zoomed. */
export function GraphCanvas(props: GraphCanvasProps) {
  const { agent, layout, marked } = props
  const part = useRef<HTMLDivElement>(null)
  const { camera, showAll, zoom, pan, reveal } = useCamera(part, layout)
  useKeys([
    ['+', () => zoom(ZOOM)],
    ['-', () => zoom(1 / ZOOM)],
    ['0', showAll],
  ])
  const markedArea = areaOf(layout, marked)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each node that is marked, as it may be moved away then
  useEffect(() => {
    if (markedArea) reveal(markedArea)
  }, [marked, layout])
  return (
    <div class="canvas-frame">
      <div
        class="canvas"
        ref={part}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that is moved is reached by the keyboard
        tabIndex={0}
        role="group"
        aria-label={`Graph of ${agent}. The arrow keys move it, plus and minus zoom, 0 shows all of it.`}
        onKeyDown={(event) => {
          const by = ARROWS[event.key]
          if (!by || event.target !== event.currentTarget) return
          event.preventDefault()
          pan({ x: by[0], y: by[1] })
        }}
      >
        <svg>
          <title>Graph of {agent}</title>
          <Arrows />
          <g transform={`translate(${camera.x} ${camera.y}) scale(${camera.scale})`}>
            <Marks {...props} onReveal={reveal} />
          </g>
        </svg>
      </div>
      <div class="canvas-keys line">
        <button type="button" onClick={() => zoom(1 / ZOOM)} aria-label="Zoom out">
          −
        </button>
        <button type="button" onClick={() => zoom(ZOOM)} aria-label="Zoom in">
          +
        </button>
        <button type="button" onClick={showAll} title="Shows all of the graph">
          Fit
        </button>
      </div>
      <EdgeList layout={layout} />
    </div>
  )
}

function Marks(props: GraphCanvasProps & { readonly onReveal: (area: Area) => void }) {
  const { layout, states, run, marked, stops, onToggleStop, linkTo, onReveal } = props
  const { nodes, boxes, edges } = layout
  return (
    <>
      {boxes.map(({ thing, area }) => (
        <BoxMark
          key={thing.id}
          box={thing}
          area={area}
          state={states.get(thing.id)}
          isMarked={thing.id === marked}
        />
      ))}
      {edges.map((placed) => (
        <EdgeMark key={`${placed.edge.source} ${placed.edge.target}`} placed={placed} />
      ))}
      {nodes.map(({ thing, area }) => {
        const state = joined(states, thing.members)
        return (
          <NodeMark
            key={thing.id}
            node={thing}
            area={area}
            state={state}
            isReached={thing.box === undefined && isReached(thing.kind, run)}
            isMarked={marked !== undefined && thing.members.includes(marked)}
            href={state && linkTo(state.newest.id)}
            onFocus={() => onReveal(area)}
          />
        )
      })}
      {stoppingAreas(layout).map(([name, area]) => (
        <StopMark key={name} name={name} area={area} stops={stops} onToggle={onToggleStop} />
      ))}
    </>
  )
}

/** The nodes and subgraphs of the agent itself. Folded middleware has several nodes in one place. */
const stoppingAreas = ({ nodes, boxes }: Layout): readonly (readonly [name: string, area: Area])[] => [
  ...boxes.flatMap(({ thing, area }) => (thing.box === undefined ? [[thing.id, area] as const] : [])),
  ...nodes.flatMap(({ thing: { id, kind, box, members }, area }) =>
    box === undefined && members.length === 1 && kind !== 'start' && kind !== 'end'
      ? [[id, area] as const]
      : [],
  ),
]

const areaOf = ({ nodes, boxes }: Layout, id: string | undefined): Area | undefined =>
  id === undefined
    ? undefined
    : (nodes.find(({ thing }) => thing.members.includes(id)) ?? boxes.find(({ thing }) => thing.id === id))
        ?.area

/** The start and end nodes have no steps: every run has started, and a completed one has reached the end. */
const isReached = (kind: string, run: Span | undefined): boolean =>
  kind === 'start' ? run !== undefined : kind === 'end' && run?.status === 'completed'

const Arrows = () => (
  <defs>
    <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
      <path d="M0 0 8 4 0 8z" class="arrow" />
    </marker>
  </defs>
)

/** The edges as text, for screen readers. */
const EdgeList = ({ layout: { nodes, edges } }: { readonly layout: Layout }) => {
  const names = new Map(
    nodes.map(({ thing }) => [thing.id, thing.box ? `${thing.label} of ${thing.box}` : thing.label]),
  )
  return (
    <ul class="hidden" aria-label="Edges">
      {edges.map(({ edge: { source, target, isConditional, label } }) => (
        <li key={`${source} ${target}`}>
          {names.get(source)} leads to {names.get(target)}
          {isConditional && `, if it chooses ${label === '' ? 'to' : label}`}
        </li>
      ))}
    </ul>
  )
}
