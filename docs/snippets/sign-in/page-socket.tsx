import assert from 'node:assert/strict'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'

// #region page
import { useStream } from '@langchain/react'

export function Chat({ token }: { readonly token: string }) {
  const { messages } = useStream({
    apiUrl: 'http://localhost:3000',
    assistantId: 'agent',
    transport: 'websocket',
    webSocketFactory: (url) => new WebSocket(url, [`bearer.${encodeURIComponent(token)}`]),
  })
  return messages.map((message) => <p key={message.id}>{message.text}</p>)
}
// #endregion

assert.equal(renderToString(createElement(Chat, { token: 'a' })), '')
