import { App } from '../components/app.tsx'

/** A new chat. The app stays mounted when it gets its thread: it changes the address without a navigation. */
export default function NewChat() {
  return <App />
}
