// #region agents
import { tool } from '@langchain/core/tools'
import { MessagesAnnotation, StateGraph, Annotation } from '@langchain/langgraph'
import { defineAgent } from 'agentwire'
import { createAgent } from 'langchain'
import { z } from 'zod'

/** An agent of LangChain: its tools, and the state of its middleware, are in its type. */
const search = tool(async ({ city }) => ({ hotels: [`Grand Hotel ${city}`] }), {
  name: 'search_hotels',
  schema: z.object({ city: z.string() }),
})
const book = tool(async ({ hotel }) => `Booked ${hotel}.`, {
  name: 'book_hotel',
  schema: z.object({ hotel: z.string(), nights: z.number() }),
})
export const hotels = createAgent({
  model: 'openai:gpt-5',
  tools: [search, book],
  stateSchema: z.object({ budget: z.number().optional() }),
})

/** A graph: its state is in its type. */
const Trip = Annotation.Root({ ...MessagesAnnotation.spec, city: Annotation<string> })
export const trip = new StateGraph(Trip)
  .addNode('choose', async () => ({ city: 'Oslo' }))
  .addEdge('__start__', 'choose')
  .compile()

/** A function: name the type of its state, and use it on both sides. */
export interface PackingState {
  readonly items?: readonly string[]
}
export const packing = defineAgent({
  async run({ setState }) {
    setState({ items: ['umbrella'] } satisfies PackingState)
  },
})
// #endregion
