import { createRoot } from 'react-dom/client'
import { Chat } from './chat.tsx'
import './page.css'

createRoot(document.getElementById('page')!).render(<Chat />)
