import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { AgentGraph, LayoutScript } from '../../wire.ts'
import { drawingOf } from '../model/graph.ts'
import type * as graphLayout from '../model/graph-layout.ts'
import type { Area, Point } from '../model/graph-layout.ts'
import { type Loaded, usePolled } from './hooks.ts'

/** A pointer that moves less than this still clicks, in pixels. */
const DRAG = 4

/** A camera that pointers and wheels move. It fits the drawing until it is moved. */
export function useCamera(part: RefObject<HTMLElement | null>, drawing: Size) {
  const [moved, setMoved] = useState<Camera>()
  const [view, setView] = useState<Size>({ width: 0, height: 0 })
  const now = useRef({ moved, view, drawing })
  now.current.drawing = drawing
  const current = () => now.current.moved ?? fitted(now.current.drawing, now.current.view)
  const move = (next: Camera | undefined) => {
    now.current.moved = next
    setMoved(next)
  }
  const change = (next: (camera: Camera) => Camera) => move(next(current()))
  const showAll = () => move(undefined)
  useLayoutEffect(() => {
    const look = () => {
      now.current.view = { width: part.current!.clientWidth, height: part.current!.clientHeight }
      setView(now.current.view)
    }
    look()
    const observer = new ResizeObserver(look)
    observer.observe(part.current!)
    return () => observer.disconnect()
  }, [part])
  // biome-ignore lint/correctness/useExhaustiveDependencies: in another drawing nothing is where it was
  useLayoutEffect(showAll, [drawing])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the listeners read what is current
  useEffect(() => listen(part.current!, change), [part])
  const middle = { x: view.width / 2, y: view.height / 2 }
  return {
    camera: current(),
    /** Shows the whole drawing, also after the view or the drawing is resized. */
    showAll,
    zoom: (by: number) => change((old) => zoom(old, by, middle)),
    pan: (by: Point) => change((old) => pan(old, by)),
    reveal(area: Area): void {
      const camera = current()
      const next = reveal(camera, area, now.current.view)
      if (next.x !== camera.x || next.y !== camera.y) move(next)
    },
  }
}

type Change = (next: (camera: Camera) => Camera) => void

/** One pointer drags, two pinch. The wheel pans. With Ctrl or ⌘, which trackpads send for a pinch, it zooms. */
function listen(part: HTMLElement, change: Change): () => void {
  const pointers = new Map<number, Point>()
  let hasDragged = false
  const place = ({ clientX, clientY }: MouseEvent): Point => {
    const { left, top } = part.getBoundingClientRect()
    return { x: clientX - left, y: clientY - top }
  }
  const onWheel = (event: WheelEvent) => {
    event.preventDefault()
    const { deltaX, deltaY, ctrlKey, metaKey } = event
    if (ctrlKey || metaKey) change((old) => zoom(old, Math.exp(-deltaY / 200), place(event)))
    else change((old) => pan(old, { x: -deltaX, y: -deltaY }))
  }
  const onDown = (event: PointerEvent) => {
    if (event.button !== 0) return
    if (pointers.size === 0) hasDragged = false
    pointers.set(event.pointerId, place(event))
  }
  const onMove = (event: PointerEvent) => {
    const from = pointers.get(event.pointerId)
    if (!from) return
    const to = place(event)
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1]
    if (!other && !hasDragged && distance(from, to) < DRAG) return
    hasDragged = true
    pointers.set(event.pointerId, to)
    if (other) change((old) => zoom(old, distance(other, to) / Math.max(1, distance(other, from)), other))
    else change((old) => pan(old, { x: to.x - from.x, y: to.y - from.y }))
  }
  const onUp = ({ pointerId }: PointerEvent) => void pointers.delete(pointerId)
  // The end of a drag is not a click.
  const onClick = (event: MouseEvent) => {
    if (!hasDragged) return
    hasDragged = false
    event.preventDefault()
    event.stopPropagation()
  }
  // The browser would drag a link itself.
  const onDragStart = (event: DragEvent) => event.preventDefault()
  part.addEventListener('wheel', onWheel, { passive: false })
  part.addEventListener('pointerdown', onDown)
  part.addEventListener('click', onClick, true)
  part.addEventListener('dragstart', onDragStart)
  addEventListener('pointermove', onMove)
  addEventListener('pointerup', onUp)
  addEventListener('pointercancel', onUp)
  return () => {
    part.removeEventListener('wheel', onWheel)
    part.removeEventListener('pointerdown', onDown)
    part.removeEventListener('click', onClick, true)
    part.removeEventListener('dragstart', onDragStart)
    removeEventListener('pointermove', onMove)
    removeEventListener('pointerup', onUp)
    removeEventListener('pointercancel', onUp)
  }
}

const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y)

/** The global that the script of model/graph-layout.ts defines. */
const loaded = () => (globalThis as { agentwireLayout?: typeof graphLayout }).agentwireLayout

/** The script is requested once, so it is never polled again. */
const POLL_MS = 60_000

/** The layout of a graph. Undefined until its script is loaded. */
export function useLayout(
  graph: AgentGraph | undefined,
  isUnfolded: boolean,
): Pick<Loaded<graphLayout.Layout>, 'data' | 'error'> {
  const { data, error } = usePolled<LayoutScript>(loaded() ? undefined : '/layout', POLL_MS)
  if (data && !loaded()) run(data.script)
  const script = loaded()
  // Each response is another object, usually with the same graph.
  const text = JSON.stringify(graph)
  const layout = useMemo(
    () => (text === undefined ? undefined : script?.layoutOf(drawingOf(JSON.parse(text), isUnfolded))),
    [text, isUnfolded, script],
  )
  return { data: layout, error }
}

/** The page's policy contains the hash of this script and allows no other. */
function run(script: string): void {
  const element = document.createElement('script')
  element.textContent = script
  document.head.append(element)
}

/** The visible part of a drawing: a point is displayed at `x + scale * point.x`. */
interface Camera extends Point {
  readonly scale: number
}

interface Size {
  readonly width: number
  readonly height: number
}

const MIN = 0.2
const MAX = 3
/** The margin around a fitted drawing, in pixels. */
const AROUND = 16

/** Shows the whole drawing, centered and not enlarged. */
export function fitted(drawing: Size, view: Size): Camera {
  const wanted = Math.min((view.width - AROUND) / drawing.width, (view.height - AROUND) / drawing.height, 1)
  const scale = Number.isFinite(wanted) ? Math.max(MIN, wanted) : 1
  return {
    scale,
    x: (view.width - drawing.width * scale) / 2,
    y: Math.max(0, (view.height - drawing.height * scale) / 2),
  }
}

/** Zooms around a point of the view, which stays in place. */
export function zoom({ x, y, scale }: Camera, by: number, at: Point): Camera {
  const next = Math.min(MAX, Math.max(MIN, scale * by))
  const ratio = next / scale
  return { scale: next, x: at.x - (at.x - x) * ratio, y: at.y - (at.y - y) * ratio }
}

export const pan = (camera: Camera, by: Point): Camera => ({
  ...camera,
  x: camera.x + by.x,
  y: camera.y + by.y,
})

/** Moves only as far as needed to show an area. */
export function reveal(camera: Camera, { x, y, width, height }: Area, view: Size): Camera {
  const { scale } = camera
  return pan(camera, {
    x: needed(camera.x + x * scale, width * scale, view.width),
    y: needed(camera.y + y * scale, height * scale, view.height),
  })
}

const needed = (from: number, length: number, room: number): number =>
  from < AROUND ? AROUND - from : Math.min(0, room - AROUND - from - length)
