import { threadClient } from '../../kit/client.ts'
import { dataOf, isTerminal, type Json, type WireEvent } from '../../kit/events.ts'
import type { Door, Shown } from '../door.ts'

/** The streaming protocol, over its commands and one stream. */
export const protocol: Door = {
  name: 'the streaming protocol',
  faces: [],
  open({ origin, threadId, agent }) {
    const client = threadClient(origin, threadId, {})
    let runs = 0
    let seen: readonly WireEvent[] = []
    const read = async (): Promise<Shown> => {
      const before = seen.length
      seen = await client.transcript(++runs)
      return shownBy(seen.slice(before))
    }
    return {
      async send(text) {
        const input = { messages: [{ role: 'user', content: text }] }
        await client.start(input, { assistant_id: agent })
        return read()
      },
      async approve() {
        const asked = seen.filter(({ method }) => method === 'input.requested').at(-1)!
        const { namespace, data } = asked.params
        const decisions = data.payload.actionRequests.map(() => ({ type: 'approve' }))
        await client.ok('input.respond', {
          namespace,
          interrupt_id: data.interrupt_id,
          response: { decisions },
        })
        return read()
      },
    }
  },
}

function shownBy(events: readonly WireEvent[]): Shown {
  const end = events.find(isTerminal)!.params.data
  const states = events.filter(({ method, params }) => method === 'values' && params.namespace.length === 0)
  const messages: readonly Json[] = states.at(-1)?.params.data.messages ?? []
  const last = messages.slice(messages.findLastIndex(({ type }) => type === 'human') + 1)
  const finished = dataOf(events, 'messages')
    .filter(({ event, content }) => event === 'content-block-finish' && content.type === 'text')
    .map(({ content }) => content.text)
  return {
    text: finished.at(-1) ?? '',
    calls: last.flatMap(({ tool_calls: calls = [] }) =>
      calls.map(({ id, name, args }: Json) => ({
        id,
        name,
        input: args,
        result: last.find(({ tool_call_id }) => tool_call_id === id)?.content,
      })),
    ),
    end: end.event === 'interrupted' ? 'asks' : end.event,
    error: end.error,
  }
}
