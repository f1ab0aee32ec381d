import { useState } from 'preact/hooks'

const PREFIX = 'agentwire-devtools-'

/** A choice that somebody made on this page before. */
export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name)
  } catch {
    // Some private windows deny storage to pages.
    return null
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value)
  } catch {
    // The choice holds until the page is closed.
  }
}

/** A switch that keeps its position after a reload. It is off until somebody turns it on. */
export function useSwitch(name: string): readonly [isOn: boolean, toggle: () => void] {
  const [isOn, setOn] = useState(() => remembered(name) === 'on')
  const toggle = () => {
    setOn(!isOn)
    remember(name, isOn ? 'off' : 'on')
  }
  return [isOn, toggle]
}
