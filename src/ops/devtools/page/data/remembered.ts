import { useState } from 'preact/hooks'

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
