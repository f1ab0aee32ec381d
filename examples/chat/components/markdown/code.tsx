import { useEffect, useState } from 'react'
import { CopyButton } from '../ui/copy-button.tsx'
import './code.css'

interface CodeProps {
  readonly code: string
  readonly language: string | undefined
  /** Streaming code is highlighted once it is complete. */
  readonly isGrowing: boolean
}

/** A code block with its language and a copy button. */
export function Code({ code, language = '', isGrowing }: CodeProps) {
  const [name = ''] = language.split(/\s/)
  const [coloured, setColoured] = useState<{ readonly code: string; readonly html: string }>()
  useEffect(() => {
    if (isGrowing || name === '') return
    let isShown = true
    // If highlighting cannot be loaded, the code stays plain.
    import('./highlight.ts').then(({ highlight }) => {
      const html = highlight(code, name)
      if (isShown && html !== undefined) setColoured({ code, html })
    }, console.warn)
    return () => {
      isShown = false
    }
  }, [code, name, isGrowing])
  return (
    <figure
      dir="ltr"
      aria-label={name === '' ? 'Code' : `Code in ${name}`}
      className="overflow-hidden rounded-lg border border-line [font-variant-ligatures:none]"
    >
      <figcaption className="flex items-center justify-between border-line border-b bg-panel py-0.5 pr-1 pl-4 text-faint text-xs">
        {name || 'text'}
        <CopyButton label="Copy code" text={code} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be within reach of the keyboard. */}
      <pre tabIndex={0} className="overflow-x-auto p-4 font-mono text-sm leading-normal">
        {coloured?.code === code ? (
          // biome-ignore lint/security/noDangerouslySetInnerHtml: highlight.js escapes the code and adds spans alone.
          <code dangerouslySetInnerHTML={{ __html: coloured.html }} />
        ) : (
          <code>{code}</code>
        )}
      </pre>
    </figure>
  )
}
