export type Theme = 'light' | 'dark'

const KEY = 'theme'

/** Sets the theme before the first paint: the user's last choice, otherwise the system's. */
export const THEME_SCRIPT = `(() => {
  const kept = localStorage.getItem('${KEY}')
  const dark = kept ? kept === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
  document.documentElement.classList.toggle('dark', dark)
})()`

export function toggleTheme(): Theme {
  const theme = document.documentElement.classList.toggle('dark') ? 'dark' : 'light'
  localStorage.setItem(KEY, theme)
  return theme
}
