import { Client } from '@langchain/langgraph-sdk'
import { expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { calculator } from '../../fixtures/graphs.ts'
import type { Json } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'

/** The events of each stream mode. */
const EVENTS = {
  values: ['values'],
  updates: ['updates'],
  messages: ['messages/metadata', 'messages/partial', 'messages/complete'],
  'messages-tuple': ['messages'],
  tasks: ['tasks'],
  tools: ['tools'],
  checkpoints: ['checkpoints'],
  debug: ['debug'],
  events: ['events'],
} as const

// The releases of LangGraph name the places of chunks differently.
test.each(Object.entries(EVENTS))('the stream mode %s gives its events', async (mode, names) => {
  const { origin } = await serveAgents({ agents: { calculator: langgraph(calculator()) } })
  const client = new Client({ apiUrl: origin, apiKey: null, callerOptions: { maxRetries: 0 } })
  const input = { messages: [{ type: 'human', content: '2 + 3?' }] }
  const frames: Json[] = []
  for await (const frame of client.runs.stream(null, 'calculator', { input, streamMode: mode as 'values' }))
    frames.push(frame)
  const seen = new Set(frames.map(({ event }) => event))
  expect([...seen].sort()).toEqual(['metadata', ...names].sort())
  if (mode === 'tools')
    expect(frames.slice(1).map(({ data }) => [data.event, data.name])).toEqual([
      ['on_tool_start', 'add'],
      ['on_tool_end', 'add'],
    ])
})
