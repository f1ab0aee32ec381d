import { useState } from 'preact/hooks'
import { fieldsOfStops, readStops, type Side, type Stops, toggled } from '../model/breakpoints.ts'

const PREFIX = 'agentwire-devtools-'

/** A setting that the user chose earlier. */
export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name)
  } catch {
    // Some browsers deny storage in private windows.
    return null
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value)
  } catch {
    // The setting lasts until the page is closed.
  }
}

/** A switch that is off by default and keeps its position after a reload. */
export function useSwitch(name: string): readonly [isOn: boolean, toggle: () => void] {
  const [isOn, setOn] = useState(() => remembered(name) === 'on')
  const toggle = () => {
    setOn(!isOn)
    remember(name, isOn ? 'off' : 'on')
  }
  return [isOn, toggle]
}

/** By agent. Some browsers do not store settings. */
const known = new Map<string, Stops>()

const nameOf = (agent: string): string => `breakpoints-${agent}`

function stopsOf(agent: string): Stops {
  const stops = known.get(agent) ?? readStops(remembered(nameOf(agent)))
  known.set(agent, stops)
  return stops
}

/** What a request to start a run of an agent says about its breakpoints. */
export const breakpointsOf = (agent: string | null) => (agent === null ? {} : fieldsOfStops(stopsOf(agent)))

export type ToggleStop = (side: Side, node: string) => void

/** The breakpoints of an agent, which the page remembers. */
export function useBreakpoints(agent: string): readonly [Stops, ToggleStop] {
  const [, render] = useState(0)
  const toggle: ToggleStop = (side, node) => {
    const stops = toggled(stopsOf(agent), side, node)
    known.set(agent, stops)
    remember(nameOf(agent), JSON.stringify(stops))
    render((count) => count + 1)
  }
  return [stopsOf(agent), toggle]
}
