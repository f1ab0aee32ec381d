import type { Metadata, Viewport } from 'next'
import type { ReactNode } from 'react'
import { App } from '../components/app.tsx'
import { THEME_SCRIPT } from '../lib/theme.ts'
import './globals.css'

export const metadata: Metadata = {
  title: 'agentwire chat',
  description: 'A chat over the Agent Streaming Protocol, served by one Next.js app.',
  icons: { icon: 'data:,' },
}

export const viewport: Viewport = {
  width: 'device-width',
  initialScale: 1,
  themeColor: [
    { media: '(prefers-color-scheme: light)', color: '#ffffff' },
    { media: '(prefers-color-scheme: dark)', color: '#17171a' },
  ],
}

/** The app stands in the layout, so that it stays mounted while the address changes from `/` to `/t/{id}`. */
export default function Layout({ children }: { readonly children: ReactNode }) {
  return (
    <html lang="en" suppressHydrationWarning>
      <body>
        {/* biome-ignore lint/security/noDangerouslySetInnerHtml: a constant, which must run before the first paint. */}
        <script dangerouslySetInnerHTML={{ __html: THEME_SCRIPT }} />
        <App />
        {children}
      </body>
    </html>
  )
}
