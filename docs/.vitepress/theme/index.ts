import DefaultTheme from 'vitepress/theme-without-fonts'
import './colors.css'
import './pages.css'
import './home.css'

export default DefaultTheme
