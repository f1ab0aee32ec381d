import { tool } from '@langchain/core/tools'
import { interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { createDeepAgent } from 'deepagents'
import { createAgent, humanInTheLoopMiddleware, todoListMiddleware } from 'langchain'
import { z } from 'zod'
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

/** Sends a mail, if the human decides so, and says what came of it. Pages that know Python's approvals can answer. */
export function supervised() {
  const mail = tool(({ to }) => `Sent to ${to}`, {
    name: 'mail',
    description: 'Sends a mail.',
    schema: z.object({ to: z.string() }),
  })
  const model = new ScriptedChatModel((messages) => {
    const last = messages.at(-1)!
    if (last.getType() === 'tool') return { text: `Told: ${last.text}.` }
    return { toolCalls: [{ id: `call_${messages.length}`, name: 'mail', args: { to: 'bob' } }] }
  })
  const middleware = [humanInTheLoopMiddleware({ interruptOn: { mail: true } })]
  return langgraph(createAgent({ model, tools: [mail], middleware }), { snakeCaseApprovals: true })
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
