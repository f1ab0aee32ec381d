/** @jsxImportSource preact */
import { render } from 'preact'
import { App } from './app.tsx'
import { listenToKeys } from './data/keys.ts'
import { restoreTheme } from './views/theme.tsx'

restoreTheme()
listenToKeys()
render(<App />, document.getElementById('app')!)
