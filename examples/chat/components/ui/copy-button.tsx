import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { IconButton } from './icon-button.tsx'
import { useToast } from './toasts.tsx'

const SHOWN_MS = 1_500

/** Copies a text and briefly confirms it. */
export function CopyButton({ label, text }: { readonly label: string; readonly text: string }) {
  const toast = useToast()
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = (): void => {
    // Browsers only have a clipboard on secure origins.
    const copying = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('No clipboard'))
    copying.then(
      () => setCopied(true),
      () => toast({ text: 'The browser does not let this page copy.' }),
    )
  }
  return (
    <IconButton
      icon={copied ? Check : Copy}
      label={copied ? 'Copied' : label}
      size="small"
      className="text-faint"
      onClick={copy}
    />
  )
}
