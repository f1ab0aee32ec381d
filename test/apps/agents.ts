import { type AIMessage, ToolMessage } from '@langchain/core/messages'
import { interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { createDeepAgent } from 'deepagents'
import { todoListMiddleware } from 'langchain'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { add, chat, inOrder, ScriptedChatModel } from '../fixtures/graphs.ts'
import { gate } from '../kit/wait.ts'

/** Counts its answers, so that a page shows which of them it has. */
export function counting() {
  let answers = 0
  return langgraph(chat(() => ({ text: `Answer ${++answers}.` })))
}

/** Asks in the format of the Agent Inbox, which pages show below an answer, and says what it was told. */
export function inbox() {
  const model = new ScriptedChatModel((messages) => ({ text: String(messages.at(-1)!.content) }))
  return langgraph(
    new StateGraph(MessagesAnnotation)
      .addNode('announce', async () => ({ messages: [await model.invoke(['May I?'])] }))
      .addNode('ask', async () => {
        const [told] = interrupt([
          {
            action_request: { action: 'send_mail', args: { to: 'bob' } },
            config: { allow_accept: true, allow_ignore: true, allow_respond: true, allow_edit: true },
            description: 'A mail to Bob',
          },
        ])
        return { messages: [await model.invoke([`${told.type} ${JSON.stringify(told.args)}`])] }
      })
      .addEdge(START, 'announce')
      .addEdge('announce', 'ask')
      .compile(),
  )
}

/**
 * Adds, if the human decides so, and says what came of it. It asks in Python's format of human-in-the-loop, which deep-agents-ui
 * knows.
 */
export function supervised() {
  const model = new ScriptedChatModel((messages) => {
    const last = messages.at(-1)!
    if (last.getType() === 'tool') return { text: `It is ${String(last.content)}.` }
    return { toolCalls: [{ id: `call_${messages.length}`, name: 'add', args: { a: 2, b: 3 } }] }
  })
  const call = async (state: typeof MessagesAnnotation.State) => ({
    messages: [await model.invoke(state.messages)],
  })
  return langgraph(
    new StateGraph(MessagesAnnotation)
      .addNode('call', call)
      .addNode('ask', ({ messages }) => {
        const [toolCall] = (messages.at(-1) as AIMessage).tool_calls!
        const { name, args, id } = toolCall!
        const [decision] = interrupt({
          action_requests: [{ name, args, description: 'Adds two numbers' }],
          review_configs: [{ action_name: name, allowed_decisions: ['approve', 'edit', 'reject'] }],
        }).decisions
        const { a, b } = decision.edited_action?.args ?? args
        const content = decision.type === 'reject' ? decision.message : String(Number(a) + Number(b))
        return { messages: [new ToolMessage({ content, name, tool_call_id: id! })] }
      })
      .addNode('answer', call)
      .addEdge(START, 'call')
      .addEdge('call', 'ask')
      .addEdge('ask', 'answer')
      .compile(),
  )
}

/** Plans, gives a task to its subagent, writes a file, and answers. It stops after the plan until `goOn`, if it is told "Slowly". */
export function deep() {
  const { opened: told, open: goOn } = gate()
  const todo = (...states: readonly string[]) =>
    ['Look it up', 'Write it down'].map((content, at) => ({ content, status: states[at] }))
  const script = inOrder(
    {
      text: 'First the plan.',
      toolCalls: [{ id: 'call_plan', name: 'write_todos', args: { todos: todo('in_progress', 'pending') } }],
    },
    {
      toolCalls: [
        { id: 'call_task', name: 'task', args: { description: 'Find x', subagent_type: 'researcher' } },
      ],
    },
    {
      toolCalls: [
        { id: 'call_file', name: 'write_file', args: { file_path: '/x.md', content: '# x\n\nx is 5' } },
        { id: 'call_done', name: 'write_todos', args: { todos: todo('completed', 'completed') } },
      ],
    },
    { text: 'x is five.' },
  )
  const model = new ScriptedChatModel(async (messages) => {
    const isSlow = messages.findLast((message) => message.getType() === 'human')?.text === 'Slowly'
    if (isSlow && messages.at(-1)?.getType() === 'tool') await told
    return script(messages)
  })
  const agent = langgraph(
    createDeepAgent({
      model,
      middleware: [todoListMiddleware()],
      subagents: [
        {
          name: 'researcher',
          description: 'Finds things.',
          systemPrompt: 'You find things.',
          model: new ScriptedChatModel(
            inOrder(
              { toolCalls: [{ id: 'call_look', name: 'add', args: { a: 2, b: 3 } }] },
              { text: 'Found: 5' },
            ),
          ),
          tools: [add],
        },
      ],
    }),
  )
  return { agent, goOn }
}
