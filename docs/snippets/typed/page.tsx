import assert from 'node:assert/strict'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'

// #region page
import { useStream } from '@langchain/react'
import type { hotels, PackingState, trip } from './agents.ts'

const apiUrl = 'http://127.0.0.1:3000'

export function Hotels() {
  const { values, toolCalls } = useStream<typeof hotels>({ apiUrl, assistantId: 'hotels' })
  return (
    <>
      <p>Budget: {values.budget?.toFixed(2)}</p>
      {toolCalls.map((call) =>
        call.name === 'book_hotel' ? <p key={call.id}>{call.args.nights} nights</p> : null,
      )}
    </>
  )
}

export function Trip() {
  const { values } = useStream<typeof trip>({ apiUrl, assistantId: 'trip' })
  return <p>{values.city?.toUpperCase()}</p>
}

export function Packing() {
  const { values } = useStream<PackingState>({ apiUrl, assistantId: 'packing' })
  return values.items?.map((item) => <p key={item}>{item}</p>)
}
// #endregion

for (const Page of [Hotels, Trip, Packing]) assert.doesNotThrow(() => renderToString(createElement(Page)))
