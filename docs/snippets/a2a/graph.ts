import assert from 'node:assert/strict'
import { createAgentEngine } from 'agentwire'
import { langgraph } from 'agentwire/langgraph'
import { ask, lastText } from '../kit/ask.ts'

// #region graph
import { AIMessage } from '@langchain/core/messages'
import {
  Annotation,
  Command,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import type { A2ALink } from 'agentwire/a2a'
import { weather } from './weather.ts'

const State = Annotation.Root({ ...MessagesAnnotation.spec, link: Annotation<A2ALink | undefined> })

async function askWeather({ messages, link }: typeof State.State, { signal }: LangGraphRunnableConfig) {
  const reply = await weather.ask({ message: messages.at(-1)!.text, link, signal })
  if (reply.link.questions) return new Command({ goto: 'question', update: { link: reply.link } })
  return new Command({ goto: END, update: { link: reply.link, messages: [new AIMessage(reply.text)] } })
}

async function question({ link }: typeof State.State, { signal }: LangGraphRunnableConfig) {
  const answers = link!.questions!.map(({ value }) => interrupt(value))
  const reply = await weather.ask({ answers, link, signal })
  return { link: reply.link, messages: [new AIMessage(reply.text)] }
}

export const graph = new StateGraph(State)
  .addNode('askWeather', askWeather, { ends: ['question', END] })
  .addNode('question', question)
  .addEdge(START, 'askWeather')
  .addEdge('question', END)
  .compile()
// #endregion

const engine = createAgentEngine({ agents: { graph: langgraph(graph) } })
await ask(engine, 'thread', 'How is the weather in Oslo?')
assert.equal(await lastText(engine, 'thread'), 'Sunny.')
await engine.close()
