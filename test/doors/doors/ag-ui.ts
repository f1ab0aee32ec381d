import { HttpAgent, type Interrupt } from '@ag-ui/client'
import { agUi } from '../../../src/faces/ag-ui/index.ts'
import type { Json } from '../../kit/events.ts'
import type { Door, Shown } from '../door.ts'

/** An `HttpAgent` of AG-UI 1.0. */
export const agUiAgent: Door = {
  name: 'AG-UI',
  faces: [agUi()],
  open({ origin, threadId, agent: id }) {
    const agent = new HttpAgent({ url: `${origin}/ag-ui/${id}`, threadId })
    let open: readonly Interrupt[] = []
    const run = async (input: Parameters<typeof agent.runAgent>[0] = {}): Promise<Shown> => {
      let end: Shown['end'] = 'completed'
      let error: string | undefined
      await agent.runAgent(input, {
        onRunErrorEvent({ event }) {
          end = 'failed'
          error = event.message
        },
        onRunFinishedEvent({ event }: Json) {
          open = event.outcome?.type === 'interrupt' ? event.outcome.interrupts : []
          if (open.length > 0) end = 'asks'
        },
      })
      const messages: readonly Json[] = agent.messages
      const last = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
      // Messages of subagents are among them.
      const own = last.filter(({ subagentRunId }) => subagentRunId === undefined)
      return {
        text: own.findLast(({ role, content }) => role === 'assistant' && content)?.content ?? '',
        calls: own.flatMap(({ toolCalls = [] }) =>
          toolCalls.map(({ id: callId, function: called }: Json) => ({
            id: callId,
            name: called.name,
            input: JSON.parse(called.arguments),
            result: own.find(({ toolCallId }) => toolCallId === callId)?.content,
          })),
        ),
        end,
        error,
      }
    }
    return {
      send(text) {
        agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: text })
        return run()
      },
      approve: () =>
        run({
          resume: open.map(({ id: interruptId }) => ({
            interruptId,
            status: 'resolved' as const,
            payload: { decisions: [{ type: 'approve' }] },
          })),
        }),
    }
  },
}
