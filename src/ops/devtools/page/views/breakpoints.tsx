/** @jsxImportSource preact */
import type { ToggleStop } from '../data/local-settings.ts'
import { countStops, EVERY, SIDES, type Stops } from '../model/breakpoints.ts'

interface BreakpointsProps {
  readonly nodes: readonly string[]
  readonly stops: Stops
  readonly onToggle: ToggleStop
}

/** Where the runs that this page starts stop. */
export function Breakpoints({ nodes, stops, onToggle }: BreakpointsProps) {
  const count = countStops(stops)
  // A node that the graph no longer has can still be taken away.
  const names = new Set([EVERY, ...nodes, ...stops.before, ...stops.after])
  return (
    <details class="breakpoints small">
      <summary>Breakpoints {count > 0 && <span class="badge bad">{count}</span>}</summary>
      <p class="dim">Runs that you start here stop before or after these nodes. Continue goes on.</p>
      <ul>
        {[...names].map((node) => (
          <li key={node} class="line">
            <span class="cut">{node === EVERY ? 'every node' : node}</span>
            {SIDES.map((side) => (
              <label key={side} class="line">
                <input
                  type="checkbox"
                  aria-label={`${side} ${node === EVERY ? 'every node' : node}`}
                  checked={stops[side].includes(node)}
                  onChange={() => onToggle(side, node)}
                />
                {side}
              </label>
            ))}
          </li>
        ))}
      </ul>
    </details>
  )
}
