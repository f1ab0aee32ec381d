export type Theme = 'light' | 'dark'

const KEY = 'theme'

/** Sets the theme before the first paint: the user's last choice, otherwise the system's, also when that changes. */
export const THEME_SCRIPT = `(() => {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const apply = () => {
    const kept = localStorage.getItem('${KEY}')
    document.documentElement.classList.toggle('dark', kept ? kept === 'dark' : system.matches)
  }
  apply()
  system.addEventListener('change', apply)
})()`

export function toggleTheme(): Theme {
  const theme = document.documentElement.classList.toggle('dark') ? 'dark' : 'light'
  localStorage.setItem(KEY, theme)
  return theme
}
