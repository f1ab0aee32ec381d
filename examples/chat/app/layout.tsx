import type { Metadata, Viewport } from 'next'
import localFont from 'next/font/local'
import type { ReactNode } from 'react'
import { THEME_SCRIPT } from '../lib/theme.ts'
import './globals.css'

export const metadata: Metadata = {
  title: 'agentwire chat',
  description: 'A chat over the Agent Streaming Protocol, served by one Next.js app.',
}

/** The fonts are files of the app, so the page loads none from another server. */
const geist = localFont({ src: './fonts/geist.woff2', variable: '--font-geist', weight: '100 900' })
const geistMono = localFont({
  src: './fonts/geist-mono.woff2',
  variable: '--font-geist-mono',
  weight: '100 900',
  preload: false,
})

export const viewport: Viewport = {
  width: 'device-width',
  initialScale: 1,
  themeColor: [
    { media: '(prefers-color-scheme: light)', color: '#ffffff' },
    { media: '(prefers-color-scheme: dark)', color: '#17171a' },
  ],
}

export default function Layout({ children }: { readonly children: ReactNode }) {
  return (
    <html lang="en" className={`${geist.variable} ${geistMono.variable}`} suppressHydrationWarning>
      <body>
        {/* biome-ignore lint/security/noDangerouslySetInnerHtml: a constant, which must run before the first paint. */}
        <script dangerouslySetInnerHTML={{ __html: THEME_SCRIPT }} />
        {children}
      </body>
    </html>
  )
}
