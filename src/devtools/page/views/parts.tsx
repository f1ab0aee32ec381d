/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { toApiError } from '../data/hooks.ts'
import { bytesText, shortId } from '../model/text.ts'

const WORDS: Readonly<Record<string, string>> = {
  busy: 'running',
  idle: 'idle',
  success: 'done',
  completed: 'done',
}

/** A status, by colour and by word. */
export const Status = ({ status }: { readonly status: string }) => (
  <span class={`status ${status}`}>{WORDS[status] ?? status}</span>
)

/** An id that is shortened for the eye, and copied whole. */
export function Id({ id }: { readonly id: string }) {
  const [copied, setCopied] = useState(false)
  const copy = () =>
    navigator.clipboard?.writeText(id).then(
      () => {
        setCopied(true)
        setTimeout(() => setCopied(false), 1_200)
      },
      () => {}, // The browser has told that it may not.
    )
  return (
    <button type="button" class="id" onClick={copy} title={`Copy ${id}`}>
      {copied ? 'copied' : shortId(id)}
    </button>
  )
}

export const Size = ({ bytes }: { readonly bytes: number }) => <span class="number">{bytesText(bytes)}</span>

export const Empty = ({ children }: { readonly children: ComponentChildren }) => (
  <p class="empty">{children}</p>
)

export const Problem = ({ children }: { readonly children: ComponentChildren }) => (
  <p class="problem" role="alert">
    {children}
  </p>
)

/** A button for something that takes a while and may fail. It says why where it has. */
export function Action({
  children,
  run,
  kind = '',
}: {
  readonly children: ComponentChildren
  readonly run: () => Promise<unknown>
  readonly kind?: string
}) {
  const [running, setRunning] = useState(false)
  const [problem, setProblem] = useState('')
  const onClick = async () => {
    setRunning(true)
    setProblem('')
    try {
      await run()
    } catch (error) {
      setProblem(toApiError(error).message)
    }
    setRunning(false)
  }
  return (
    <>
      <button type="button" class={kind} disabled={running} onClick={onClick}>
        {children}
      </button>
      {problem !== '' && <Problem>{problem}</Problem>}
    </>
  )
}
