import assert from 'node:assert/strict'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'

// #region approval
import { useStream } from '@langchain/react'

interface Question {
  readonly question: string
}

export function Approval() {
  const { interrupts, respond } = useStream<Record<string, unknown>, Question>({
    apiUrl: 'http://127.0.0.1:3000',
    assistantId: 'agent',
  })
  return interrupts.map(({ id, value }) => (
    <p key={id}>
      {value?.question}
      <button type="button" onClick={() => respond({ approved: true }, { interruptId: id! })}>
        Approve
      </button>
      <button type="button" onClick={() => respond({ approved: false }, { interruptId: id! })}>
        Reject
      </button>
    </p>
  ))
}
// #endregion

assert.equal(renderToString(createElement(Approval)), '')
