import { useMemo } from 'preact/hooks'
import type { AgentGraph, LayoutScript } from '../../wire.ts'
import { drawingOf } from '../model/graph.ts'
import type * as graphLayout from '../model/graph-layout.ts'
import { type Loaded, usePolled } from './hooks.ts'

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
