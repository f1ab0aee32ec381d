import { mcp } from '../../../src/faces/mcp/index.ts'
import type { Json } from '../../kit/events.ts'
import { connect, textOf, threadOf } from '../../mcp/served.ts'
import type { Door, Place, Shown } from '../door.ts'

/** The thread of a place. Clients of MCP do not name the first one. */
const threads = new WeakMap<Place, string>()

/** MCP, with its own client, which shows no forms. */
export const tools: Door = {
  name: 'MCP',
  faces: [mcp()],
  threadOf: async (place) => threads.get(place)!,
  open(place) {
    const client = connect(new URL('/mcp', place.origin), 'auto')
    const call = async (name: string, args: Json): Promise<Shown> => {
      // A client does not notice that its stream has broken off: it waits as long as it is told to.
      const result = await (await client).call(name, args, { timeout: 10_000 })
      threads.set(place, threadOf(result))
      const text = result.isError ? textOf(result) : result.content[0].text
      const asks = text.startsWith('The assistant asks')
      return {
        text,
        calls: undefined,
        end: result.isError ? 'failed' : asks ? 'asks' : 'completed',
        ...(result.isError && { error: text }),
      }
    }
    const threadId = () => threads.get(place)
    return {
      send: (message) => call(place.agent, { message, threadId: threadId() }),
      approve: () => call('answer_question', { threadId: threadId(), answer: { decision: 'approve' } }),
    }
  },
}
