import type { ReactNode } from 'react'
import '../../start/page/page.css'

export const metadata = { title: 'Assistant', icons: { icon: 'data:,' } }

export default function Layout({ children }: { readonly children: ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  )
}
