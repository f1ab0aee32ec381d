/** @jsxImportSource preact */
import { useState } from 'preact/hooks'

type Theme = 'auto' | 'light' | 'dark'

const KEY = 'agentwire-devtools-theme'
const NEXT: Readonly<Record<Theme, Theme>> = { auto: 'light', light: 'dark', dark: 'auto' }

const isTheme = (text: string | null): text is Theme => text !== null && Object.hasOwn(NEXT, text)

/** Storage is refused to pages in some private windows. */
function stored(): Theme {
  try {
    const text = localStorage.getItem(KEY)
    return isTheme(text) ? text : 'auto'
  } catch {
    return 'auto'
  }
}

function apply(theme: Theme): void {
  document.documentElement.dataset.theme = theme
}

export const restoreTheme = (): void => apply(stored())

export function ThemeButton() {
  const [theme, setTheme] = useState(stored)
  const change = () => {
    const next = NEXT[theme]
    setTheme(next)
    apply(next)
    try {
      localStorage.setItem(KEY, next)
    } catch {
      // It holds until the page is closed.
    }
  }
  return (
    <button type="button" class="quiet" onClick={change} title="Change the colours">
      {{ auto: '◐', light: '☀', dark: '☾' }[theme]} <span class="wide">{theme}</span>
      <span class="hidden"> colours</span>
    </button>
  )
}
