import { useEffect, useRef, useState } from 'react'
import type { Activity } from '../../lib/tool-calls.ts'

const WORDS: Readonly<Record<Activity, string>> = {
  running: 'The agent is answering.',
  waiting: 'The agent waits for you.',
  idle: 'The answer is complete.',
}

/** Tells screen readers when an answer starts and ends. They do not read each word while it arrives. */
export function Announcement({ activity }: { readonly activity: Activity }) {
  const [text, setText] = useState('')
  const before = useRef(activity)
  useEffect(() => {
    if (before.current === activity) return
    before.current = activity
    setText(WORDS[activity])
  }, [activity])
  return (
    <p role="status" className="sr-only">
      {text}
    </p>
  )
}
