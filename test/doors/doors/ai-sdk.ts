import { lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import { aiSdk } from '../../../src/faces/ai-sdk/index.ts'
import { openChat } from '../../ai-sdk/clients.ts'
import type { Json } from '../../kit/events.ts'
import { eventually } from '../../kit/wait.ts'
import type { Door, Shown } from '../door.ts'

/** The chats of the AI SDK, with its own client. */
export const chats: Door = {
  name: 'the AI SDK',
  faces: [aiSdk()],
  open({ origin, threadId, agent }) {
    const { chat } = openChat({
      origin,
      id: threadId,
      body: { assistantId: agent },
      init: { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses },
    })
    const shown = (): Shown => {
      const parts: readonly Json[] = chat.lastMessage!.parts
      const calls = parts.filter(({ toolCallId }) => toolCallId !== undefined)
      const asks = calls.some(({ state }) => state === 'approval-requested')
      return {
        text: parts.findLast(({ type }) => type === 'text')?.text ?? '',
        calls: calls.map(({ toolCallId: id, toolName: name, input, output: result }) => ({
          id,
          name,
          input,
          result,
        })),
        end: chat.error ? 'failed' : asks ? 'asks' : 'completed',
        error: chat.error?.message,
      }
    }
    return {
      async send(text) {
        await chat.sendMessage({ text })
        return shown()
      },
      async approve() {
        for (const { approval } of chat.lastMessage!.parts as readonly Json[])
          if (approval) await chat.addToolApprovalResponse({ id: approval.id, approved: true })
        await eventually(() => chat.status === 'ready' || chat.status === 'error')
        return shown()
      },
    }
  },
}
