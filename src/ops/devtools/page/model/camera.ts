import type { Area, Point } from './graph-layout.ts'

/** The visible part of a drawing: a point is displayed at `x + scale * point.x`. */
export interface Camera extends Point {
  readonly scale: number
}

export interface Size {
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
