import { useMemo } from 'preact/hooks'
import type { AgentGraph, LayoutScript } from '../../wire.ts'
import { drawingOf } from '../model/graph.ts'
import type * as graphLayout from '../model/graph-layout.ts'
import { type Asked, usePolled } from './hooks.ts'

/** What the script of model/graph-layout.ts defines, once it has run. */
const loaded = () => (globalThis as { agentwireLayout?: typeof graphLayout }).agentwireLayout

/** Nothing is asked again once the script is there. */
const POLL_MS = 60_000

/** Where everything in a graph is. Undefined until the script that computes it has come. */
export function useLayout(
  graph: AgentGraph | undefined,
  isUnfolded: boolean,
): Pick<Asked<graphLayout.Layout>, 'data' | 'error'> {
  const { data, error } = usePolled<LayoutScript>(loaded() ? undefined : '/layout', POLL_MS)
  if (data && !loaded()) run(data.script)
  const script = loaded()
  // The answer of the server is another object each time, and mostly the same graph.
  const text = JSON.stringify(graph)
  const layout = useMemo(
    () => (text === undefined ? undefined : script?.layoutOf(drawingOf(JSON.parse(text), isUnfolded))),
    [text, isUnfolded, script],
  )
  return { data: layout, error }
}

/** The page's policy has the hash of this script, and lets no other run. */
function run(script: string): void {
  const element = document.createElement('script')
  element.textContent = script
  document.head.append(element)
}
