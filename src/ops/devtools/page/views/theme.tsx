/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { remember, remembered } from '../data/local-settings.ts'

type Theme = 'auto' | 'light' | 'dark'

const NAME = 'theme'
const NEXT: Readonly<Record<Theme, Theme>> = { auto: 'light', light: 'dark', dark: 'auto' }

const isTheme = (text: string | null): text is Theme => text !== null && Object.hasOwn(NEXT, text)

function stored(): Theme {
  const text = remembered(NAME)
  return isTheme(text) ? text : 'auto'
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
    remember(NAME, next)
  }
  return (
    <button type="button" class="quiet" onClick={change} title="Change the colours">
      {{ auto: '◐', light: '☀', dark: '☾' }[theme]} <span class="wide">{theme}</span>
      <span class="hidden"> colours</span>
    </button>
  )
}
